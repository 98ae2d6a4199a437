// SPDX-License-Identifier: Apache-2.0
#include "tests/driver/application.hpp"
#include "builder/machine/opened_device.hpp"

#include <cstring>
#include <iostream>

#include <dlfcn.h>
#include <unistd.h>

#include "builder/compile/base_pack.hpp"
#include "builder/jobs/device_build.hpp"
#include "kiln/kiln.hpp"
#include "kiln/packs/writer.hpp"
#include "tests/support/catch.hpp"

namespace kiln::test {
namespace {

using nlohmann::json;

constexpr char kSource[] =
    "__kernel void triple(__global uint *out, uint factor) {\n"
    "  const uint i = (uint)get_global_id(0);\n"
    "  out[i] = factor * i + 1;\n"
    "}\n";
constexpr std::uint32_t kCount = 64;

// A module that declares the capability Kernel and the entry point "triple", and nothing else.
packs::Bytes spirv() {
  const std::uint32_t words[] = {0x07230203, 0x00010000,    0, 2, 0,          2u << 16 | 17,
                                 6,          5u << 16 | 15, 6, 1, 0x70697274, 0x0000656c};
  packs::Bytes bytes(sizeof(words));
  std::memcpy(bytes.data(), words, sizeof(words));
  return bytes;
}

packs::Bytes bytes(const std::string &text) { return {text.begin(), text.end()}; }

json texts(const std::vector<Notice> &notices) {
  json all = json::array();
  for (const Notice &notice : notices) all.push_back({notice.kind, notice.text});
  return all;
}

struct Telemetry {
  std::vector<Notice> notices;
};

void collect(const kiln_notice *notice, void *user) {
  static_cast<Telemetry *>(user)->notices.push_back({notice->kind, notice->text});
}

LoaderOptions options_of(const StartOptions &options, Telemetry *telemetry) {
  LoaderOptions loader_options;
  if (!options.overlay.empty()) loader_options.use_overlay(options.overlay.c_str());
  loader_options.deadline_milliseconds = options.deadline;
  loader_options.notice = collect;
  loader_options.notice_user = telemetry;
  return loader_options;
}

json build_in_child(const packs::Contents &base, const std::string &path) {
  const auto listed = builder::list_devices();
  if (!listed.ok()) return {{"error", listed.status().message}};
  const auto result = builder::build_on_devices(base, *listed, {}, {}, nullptr);
  std::string errors;
  for (const builder::JobFailure &failure : result.failures) errors += failure.text + "\n";
  const packs::Status status = packs::write_pack(result.contents, path);
  return {{"error", errors + status.message}};
}

}  // namespace

bool launch_triple(const Loader &loader, const Program &program, const LaunchOptions &options) {
  const Queue queue = take(Queue::create(loader));
  const Buffer out = take(Buffer::create(loader, kCount * 4, KILN_ACCESS_BOTH));
  auto *values = static_cast<std::uint32_t *>(take(out.map(queue)));
  std::memset(values, 0xff, kCount * 4);
  require(out.unmap(queue));
  const Kernel kernel = take(Kernel::create(program, "triple"));
  require(kernel.set(0, out));
  require(kernel.set(1, 3u));
  const kiln_ndrange range = {1, {kCount, 1, 1}, {0, 0, 0}, {0, 0, 0}};
  const auto launched = kernel.launch(queue, range);
  if (!launched && options.retry) take(kernel.launch(queue, range));
  if (!launched && !options.retry) throw std::runtime_error(launched.error().message);
  values = static_cast<std::uint32_t *>(take(out.map(queue)));
  bool right = true;
  for (std::uint32_t i = 0; i < kCount; ++i) right = right && values[i] == 3 * i + 1;
  if (options.abrupt) ::_exit(right ? 0 : 1);
  require(out.unmap(queue));
  return right;
}

std::string computing_device(const std::string &device) {
  return "log = \"{folder}/calls\"\n"
         "[[platform]]\nname = \"Scripted platform\"\n"
         "[[platform.device]]\nforward = true\nname = \"Scripted GPU\"\nvendor = \"Kiln\"\n"
         "version = \"OpenCL 3.0 scripted\"\ndriver_version = \"1.0\"\n"
         "il_source = [\"{folder}/triple.cl\"]\n" +
         device + "\n";
}

packs::Variant triple_variant(const std::string &word) {
  const std::string source = "/* " + word + " */ " + kSource;
  packs::Variant variant;
  variant.name = "plain";
  variant.hash = packs::variant_hash(source, "", {"triple"});
  variant.kernels = {{"triple", 2}};
  variant.source.emplace(bytes(source));
  return variant;
}

packs::Contents triple_program() {
  packs::Variant variant;
  variant.name = "plain";
  variant.hash = packs::variant_hash(kSource, "", {"triple"});
  variant.kernels = {{"triple", 2}};
  variant.source.emplace(bytes(kSource));
  variant.il64.emplace(spirv());
  variant.il_version = 0x00010000;
  packs::Contents contents;
  contents.programs = {{"triple", "", {variant}}};
  return contents;
}

std::string triple_file(const ScriptedDriver &driver) {
  return driver.folder().write("triple.cl", kSource).string();
}

std::string build_pack(const ScriptedDriver &driver, const packs::Contents &base) {
  triple_file(driver);
  const std::string path = driver.path("app.kiln");
  const auto child = driver.run([&] { return build_in_child(base, path); });
  INFO(child.reason());
  REQUIRE(child.ok());
  REQUIRE(child.answer["error"] == "");
  return path;
}

namespace {

std::string member(const std::string &report, const std::string &rung, const char *name) {
  if (report.empty()) return {};
  const json parsed = json::parse(report);
  for (const json &one : parsed["rungs"]) {
    if (one["rung"] == rung) return one.value(name, "");
  }
  return {};
}

}  // namespace

std::string Start::reason(const std::string &of_rung) const {
  return member(report, of_rung, "reason");
}

std::string Start::outcome(const std::string &of_rung) const {
  return member(report, of_rung, "outcome");
}

std::string Start::notice(kiln_notice_kind kind) const {
  for (const Notice &notice : notices) {
    if (notice.kind == kind) return notice.text;
  }
  return "-";
}

bool Start::has_note(const std::string &part) const {
  for (const std::string &note : notes) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

json load_and_launch(const std::string &path, const StartOptions &options) {
  Telemetry telemetry;
  auto opencl = take(OpenCL::open());
  const Device device = take(opencl.device(0));
  const LoaderOptions loader_options = options_of(options, &telemetry);
  const Loader loader = take(Loader::create(device, take(Pack::open_file(path)), loader_options));
  Loaded loaded = loader.load("triple", {}, options.flags);
  json answer = {{"report", loaded.report.json()}, {"notices", texts(telemetry.notices)}};
  if (!loaded.program) answer["error"] = loaded.program.error().message;
  if (loaded.program) answer["right"] = launch_triple(loader, *loaded.program);
  if (options.finish) {
    require(loader.finish());
    answer["notices"] = texts(telemetry.notices);
  }
  return answer;
}

Start start(const ScriptedDriver &driver, const std::string &pack, unsigned flags,
            std::chrono::milliseconds timeout) {
  StartOptions options;
  options.flags = flags;
  options.timeout = timeout;
  return start(driver, pack, options);
}

Start start(const ScriptedDriver &driver, const std::string &pack, const StartOptions &options) {
  Start result;
  result.child = driver.run([&] { return load_and_launch(pack, options); }, options.timeout);
  if (!result.child.ok()) return result;
  const json &answer = result.child.answer;
  result.report = answer["report"];
  result.error = answer.value("error", "");
  result.right = answer.value("right", false);
  for (const json &one : answer["notices"]) {
    result.notices.push_back({one[0].get<kiln_notice_kind>(), one[1]});
  }
  const json report = json::parse(result.report);
  result.rung = report["rung"];
  result.recompiled = report["recompiled"] == true;  // null where nobody looked
  result.notes = report["notes"].get<std::vector<std::string>>();
  return result;
}

}  // namespace kiln::test

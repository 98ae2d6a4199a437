// SPDX-License-Identifier: Apache-2.0
#include "tests/driver/nvidia.hpp"

#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include <dlfcn.h>
#include <unistd.h>

#include "builder/machine/opened_device.hpp"
#include "kiln/kiln.hpp"

namespace kiln::test {

namespace {

constexpr char kSizes[] =
    "8-1-1-goffs0-smallgrid,16-1-1-goffs0-smallgrid,32-1-1-goffs0-smallgrid,"
    "64-1-1-goffs0-smallgrid";

std::string script_of(const Gpu &gpu, const std::string &before = "") {
  return before +
         "[[platform]]\nname = \"NVIDIA CUDA\"\nvendor = \"NVIDIA Corporation\"\n"
         "version = \"OpenCL 3.0 CUDA 13.0.97\"\n"
         "[[platform.device]]\nforward = true\nname = \"NVIDIA H200\"\n"
         "vendor = \"NVIDIA Corporation\"\nversion = \"OpenCL 3.0 CUDA\"\ndriver_version = \"" +
         gpu.driver + "\"\nextensions = \"cl_nv_device_attribute_query\"\n" +
         "compute_capability_major = " + std::to_string(gpu.capability / 10) +
         "\ncompute_capability_minor = " + std::to_string(gpu.capability % 10) +
         "\n[platform.device.binary]\nshape = \"nvidia\"\nptx_version = \"" + gpu.ptx + "\"\n" +
         gpu.binary + "\n";
}

std::vector<builder::JobFailure> failures_of(const json &all) {
  std::vector<builder::JobFailure> failures;
  for (const json &one : all) failures.push_back({one[0], one[1]});
  return failures;
}

struct Telemetry {
  json notices = json::array();
};

void collect(const kiln_notice *notice, void *user) {
  static_cast<Telemetry *>(user)->notices.push_back({notice->kind, notice->text});
}

// In the child.
json run_here(const std::string &pack, const How &how) {
  auto *telemetry = new Telemetry;  // the loader may never be released
  auto opencl = take(OpenCL::open());
  const Device device = take(opencl.device(0));
  LoaderOptions options;
  if (!how.overlay.empty()) options.use_overlay(how.overlay.c_str());
  options.notice = collect;
  options.notice_user = telemetry;
  json answer;
  {
    auto loader = std::make_unique<Loader>(
        take(Loader::create(device, take(Pack::open_file(pack)), options)));
    auto loaded = std::make_unique<Loaded>(loader->load("triple", {}, how.flags));
    answer["report"] = loaded->report.json();
    if (!loaded->program) {
      answer["error"] = loaded->program.error().message;
    } else if (how.launch) {
      answer["right"] = launch_triple(*loader, *loaded->program, how.launch_options);
    }
    if (how.finish) require(loader->finish());
    if (how.end) {
      (void)loader.release();
      (void)loaded.release();
    }
  }
  answer["notices"] = telemetry->notices;
  return answer;
}

}  // namespace

packs::Contents launchable() {
  packs::Contents contents = triple_program();
  packs::Variant &variant = contents.programs[0].variants[0];
  variant.il64.reset();
  variant.il_version = 0;
  variant.kernels[0].range = "width";
  packs::Argument out{packs::Role::output, {}, 1, "out", 0, packs::ElementType::uint_};
  out.extent = "width";
  variant.arguments = {out, {packs::Role::parameter, {}, 1, "factor", 3}};
  return contents;
}

packs::Contents read_pack(const std::string &path) {
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
  REQUIRE(packs::Pack::open_file(path.c_str(), &pack).message == "");
  REQUIRE(packs::read_contents(pack, &contents).message == "");
  return contents;
}

void save(const packs::Contents &contents, const std::string &path) {
  packs::WriteOptions options;
  options.purpose = packs::Purpose::raw;
  REQUIRE(packs::write_pack(contents, path, options).message == "");
}

std::string bytes_of(const packs::BlobSource &blob) {
  packs::Bytes bytes;
  REQUIRE(blob.read(&bytes).ok());
  return {bytes.begin(), bytes.end()};
}

packs::BlobSource blob(const std::string &bytes) {
  return packs::BlobSource(packs::Bytes(bytes.begin(), bytes.end()));
}

json texts(const std::vector<builder::JobFailure> &failures) {
  json all = json::array();
  for (const builder::JobFailure &one : failures) all.push_back({one.job, one.text});
  return all;
}

const packs::Target &Build::target(const std::string &part) const {
  for (const packs::Target &target : contents.targets) {
    if (holds(target.key, part)) return target;
  }
  throw std::runtime_error("no target " + part);
}

How from(const std::string &overlay, unsigned flags) { return {overlay, flags}; }

std::vector<std::string> Run::all(kiln_notice_kind kind) const {
  std::vector<std::string> found;
  for (const Notice &one : notices) {
    if (one.kind == kind) found.push_back(one.text);
  }
  return found;
}

Nvidia::Nvidia() : driver_("") {
  triple_file(driver_);
  save(launchable(), base());
}

std::string Nvidia::full() {
  std::string pack = path("full.kiln");
  if (built_) return pack;
  const Build full = build(Gpu(), pack);
  INFO(texts(full.failures).dump() << texts(full.unfinished).dump());
  REQUIRE(full.failures.empty());
  REQUIRE(full.unfinished.empty());
  built_ = true;
  return pack;
}

void Nvidia::set(const Gpu &gpu, const std::string &before) const {
  driver_.rewrite("log = \"{folder}/calls\"\n" + script_of(gpu, before));
}

ChildResult Nvidia::process(const Gpu &gpu, const std::function<json()> &work,
                            std::chrono::milliseconds timeout) const {
  return driver_.run(
      [&] {
        ::setenv("KILN_FAKE_CUDA", gpu.linker.c_str(), 1);
        if (!gpu.library.empty() && dlopen(gpu.library.c_str(), RTLD_NOW) == nullptr) {
          throw std::runtime_error(gpu.library);
        }
        return work();
      },
      timeout);
}

Build Nvidia::build(const Gpu &gpu, const std::string &out, const BuildOptions &options,
                    const std::string &earlier, const packs::Contents &base,
                    const std::string &before) const {
  set(gpu, before);
  const ChildResult child = process(
      gpu,
      [&]() -> json {
        // PoCL's binary then holds the code for these sizes, as machine code does for any.
        ::setenv("POCL_BINARY_SPECIALIZE_WG", kSizes, 1);
        const auto listed = builder::list_devices();
        if (!listed.ok()) return {{"error", listed.status().message}};
        packs::Contents known;
        if (!earlier.empty()) known = read_pack(earlier);
        const auto result = builder::build_on_devices(base, *listed, known, options, nullptr);
        save(result.contents, out);
        return {{"failures", texts(result.failures)},
                {"unfinished", texts(result.unfinished)},
                {"compiled", result.compiled},
                {"reused", result.reused}};
      },
      std::chrono::seconds(120));
  INFO(child.reason());
  REQUIRE(child.ok());
  INFO(child.answer.dump());
  REQUIRE_FALSE(child.answer.contains("error"));
  const json &answer = child.answer;
  return {failures_of(answer["failures"]), failures_of(answer["unfinished"]), answer["compiled"],
          answer["reused"], read_pack(out)};
}

Run Nvidia::start(const Gpu &gpu, const std::string &pack, const How &how) const {
  set(gpu);
  const std::size_t before = driver_.calls("jit");
  Run run;
  run.child = process(gpu, [&] { return run_here(pack, how); });
  run.jits = driver_.calls("jit") - before;
  if (!run.child.ok()) return run;
  const json &answer = run.child.answer;
  run.report = answer["report"];
  run.error = answer.value("error", "");
  run.right = answer.value("right", false);
  for (const json &one : answer["notices"]) {
    run.notices.push_back({one[0].get<kiln_notice_kind>(), one[1]});
  }
  const json report = json::parse(run.report);
  run.rung = report["rung"];
  run.recompiled = report["recompiled"] == true;
  run.notes = report["notes"].get<std::vector<std::string>>();
  run.final = report["final"];
  run.why_not = report.value("why_not_final", "");
  return run;
}

Nvidia &nvidia() {
  static Nvidia made;
  return made;
}

Gpu with_driver(const std::string &version) {
  Gpu gpu;
  gpu.driver = version;
  return gpu;
}

Gpu with_capability(unsigned capability) {
  Gpu gpu;
  gpu.capability = capability;
  return gpu;
}

Gpu with_binary(const std::string &rest) {
  Gpu gpu;
  gpu.binary = rest;
  return gpu;
}

Gpu with_linker(const std::string &script) {
  Gpu gpu;
  gpu.linker = script;
  return gpu;
}

std::vector<std::string> other_programs() {
  std::vector<std::string> paths;
  for (const char *const word : {"one", "two", "three"}) {
    packs::Contents contents = launchable();
    const packs::Variant other = triple_variant(word);
    contents.programs[0].variants[0].hash = other.hash;
    contents.programs[0].variants[0].source = other.source;
    paths.push_back(nvidia().path(std::string("word-") + word + ".kiln"));
    save(contents, paths.back());
  }
  return paths;
}

std::size_t markers_in(const std::string &overlay) {
  std::size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(overlay)) {
    count += entry.path().filename().string().rfind("a-", 0) == 0 ? 1 : 0;
  }
  return count;
}

}  // namespace kiln::test

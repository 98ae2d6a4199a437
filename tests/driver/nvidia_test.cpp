// SPDX-License-Identifier: Apache-2.0
// A GPU with NVIDIA's shape from the build to the launch: PTX out, the driver's linker, a cubin in.
// The scripted driver and the fake libcuda, which ctest puts on LD_LIBRARY_PATH, play it with PoCL
// behind them, so that CI covers what only a GPU shows.
#include <csignal>
#include <iostream>

#include <dlfcn.h>

#include "builder/build/device_build.hpp"
#include "builder/device/device_list.hpp"
#include "builder/inspect/overlay_folder.hpp"
#include "kiln/kiln.hpp"
#include "runtime/load/cuda_linker.hpp"
#include "tests/driver/ladder.hpp"
#include "tests/support/cuda/shapes.hpp"

using namespace kiln;
using namespace kiln::test;
using builder::BuildOptions;
using builder::ChildEnd;
using builder::ChildResult;
using nlohmann::json;
using packs::Finality;

namespace {

constexpr char kDriver[] = "580.159.04";
constexpr char kLaterDriver[] = "595.10";
constexpr char kEarlierDriver[] = "575.57.08";
constexpr char kCompiles[] = "the driver compiles this form whenever it loads it";
constexpr char kLaunchDied[] = "an earlier process ended while it launched this for the first time";
constexpr char kGivenDied[] = "an earlier process ended inside the driver while it was given this";

// The machine of one process: its GPU, its driver, and what its linker does (KILN_FAKE_CUDA).
struct Gpu {
  unsigned capability = 90;
  std::string driver = kDriver;
  std::string ptx = "8.8";
  std::string binary{};  // goes to the end of [platform.device.binary]; faults can follow in it
  std::string linker{};
  std::string library{};  // a libcuda.so.1 that is loaded already: then the name means this one
};

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

// The program with what Kiln needs to launch it, and nothing that a GPU of NVIDIA's would not take.
packs::Contents launchable() {
  packs::Contents contents = triple_program();
  packs::Variant &variant = contents.programs[0].variants[0];
  variant.il64.reset();
  variant.il_version = 0;
  variant.kernels[0].range = "width";
  packs::Argument out{1, 0, 1, "out", 0, 2};
  out.extent = "width";
  variant.arguments = {out, {4, 0, 1, "factor", 3}};
  return contents;
}

struct Build {
  std::vector<builder::JobFailure> failures;
  std::vector<builder::JobFailure> unfinished;
  std::size_t compiled = 0;
  std::size_t reused = 0;
  packs::Contents contents;

  const packs::Target &target(const std::string &part) const {
    for (const packs::Target &target : contents.targets) {
      if (holds(target.key, part)) return target;
    }
    throw std::runtime_error("no target " + part);
  }
};

json texts(const std::vector<builder::JobFailure> &failures) {
  json all = json::array();
  for (const builder::JobFailure &one : failures) all.push_back({one.job, one.text});
  return all;
}

std::vector<builder::JobFailure> failures_of(const json &all) {
  std::vector<builder::JobFailure> failures;
  for (const json &one : all) failures.push_back({one[0], one[1]});
  return failures;
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
  options.compress_binaries = false;
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

// What a start does beside loading "triple".
struct How {
  std::string overlay{};
  unsigned flags = 0;
  bool launch = true;
  bool finish = false;  // kiln_loader_finish()
  bool end = false;     // the process ends, and releases nothing
  std::optional<bool> check{};
  bool retry = false;   // a launch that fails is tried once more
  bool abrupt = false;  // exits with code 0 as soon as the result is there
};

How from(const std::string &overlay, unsigned flags = 0) { return {overlay, flags}; }

// Of one start of the application, beside how it was launched: the report's "final".
struct Run : Start {
  json final;  // true, false or null
  std::string why_not;
  std::size_t jits = 0;  // how often the driver compiled PTX

  // All notices of that kind.
  std::vector<std::string> all(kiln_notice_kind kind) const {
    std::vector<std::string> found;
    for (const Notice &one : notices) {
      if (one.kind == kind) found.push_back(one.text);
    }
    return found;
  }
};

constexpr std::uint32_t kCount = 64;

template <typename T>
T take(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

void require(const Status &status) {
  if (!status) throw std::runtime_error(status.message);
}

bool launch(const Loader &loader, const Program &program, const How &how) {
  const Queue queue = take(Queue::create(loader));
  const Buffer out = take(Buffer::create(loader, kCount * 4, KILN_ACCESS_BOTH));
  auto *values = static_cast<std::uint32_t *>(take(out.map(queue)));
  std::memset(values, 0xff, kCount * 4);
  require(out.unmap(queue));
  const Kernel kernel = take(Kernel::create(program, "triple"));
  require(kernel.set(0, out));
  require(kernel.set(1, 3u));
  const kiln_ndrange range = {1, {kCount, 1, 1}, {0, 0, 0}};
  const auto launched = kernel.launch(queue, range);
  if (!launched && how.retry) take(kernel.launch(queue, range));
  if (!launched && !how.retry) throw std::runtime_error(launched.error().message);
  values = static_cast<std::uint32_t *>(take(out.map(queue)));
  bool right = true;
  for (std::uint32_t i = 0; i < kCount; ++i) right = right && values[i] == 3 * i + 1;
  if (how.abrupt) ::_exit(right ? 0 : 1);
  require(out.unmap(queue));
  return right;
}

struct Telemetry {
  json notices = json::array();
  bool answer = false;
};

void collect(const kiln_notice *notice, void *user) {
  static_cast<Telemetry *>(user)->notices.push_back({notice->kind, notice->text});
}

int check(kiln_program *, void *user) { return static_cast<Telemetry *>(user)->answer ? 1 : 0; }

// In the child.
json run_here(const std::string &pack, const How &how) {
  auto *telemetry = new Telemetry;  // outlives a loader that nobody releases
  telemetry->answer = how.check.value_or(false);
  auto opencl = take(OpenCL::open());
  const Device device = take(opencl.device(0));
  LoaderOptions options;
  if (!how.overlay.empty()) options.overlay = how.overlay.c_str();
  options.notice = collect;
  options.notice_user = telemetry;
  if (how.check) options.check = check;
  options.check_user = telemetry;
  json answer;
  {
    auto loader = std::make_unique<Loader>(
        take(Loader::create(device, take(Pack::open_file(pack)), options)));
    auto loaded = std::make_unique<Loaded>(loader->load("triple", {}, how.flags));
    answer["report"] = loaded->report.json();
    if (!loaded->program) {
      answer["error"] = loaded->program.error().message;
    } else if (how.launch) {
      answer["right"] = launch(*loader, *loaded->program, how);
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

// One for the test program. Its packs are built once.
class Nvidia {
 public:
  Nvidia() : driver_("") {
    triple_file(driver_);
    save(launchable(), base());
  }

  const ScriptedDriver &driver() const { return driver_; }
  std::string path(const std::string &name) const { return driver_.path(name); }
  // PTX and a cubin of an H200's, and source; source alone.
  std::string full() {
    std::string pack = path("full.kiln");
    if (built_) return pack;
    const Build full = build(Gpu(), pack);
    INFO(texts(full.failures).dump() << texts(full.unfinished).dump());
    REQUIRE(full.failures.empty());
    REQUIRE(full.unfinished.empty());
    built_ = true;
    return pack;
  }
  std::string base() const { return path("base.kiln"); }
  std::string new_overlay() { return path("overlay-" + std::to_string(++overlays_)); }

  void set(const Gpu &gpu, const std::string &before = "") const {
    driver_.rewrite("log = \"{folder}/calls\"\n" + script_of(gpu, before));
  }

  ChildResult process(const Gpu &gpu, const std::function<json()> &work,
                      std::chrono::milliseconds timeout = std::chrono::seconds(60)) const {
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

  // `kiln build` of `contents` on all devices; `earlier` is the path of a pack.
  Build build(const Gpu &gpu, const std::string &out, const BuildOptions &options = {},
              const std::string &earlier = "", const packs::Contents &base = launchable(),
              const std::string &before = "") const {
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

  // One start of the application on that machine.
  Run start(const Gpu &gpu, const std::string &pack, const How &how = {}) const {
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

 private:
  static constexpr char kSizes[] =
      "8-1-1-goffs0-smallgrid,16-1-1-goffs0-smallgrid,32-1-1-goffs0-smallgrid,"
      "64-1-1-goffs0-smallgrid";
  ScriptedDriver driver_;
  unsigned overlays_ = 0;
  bool built_ = false;
};

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

std::size_t markers_in(const std::string &overlay) {
  std::size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(overlay)) {
    count += entry.path().filename().string().rfind("a-", 0) == 0 ? 1 : 0;
  }
  return count;
}

#define SHOW(run)                                                                         \
  INFO((run).child.reason() << (run).report << json((run).all(KILN_NOTICE_STORED)).dump() \
                            << json((run).all(KILN_NOTICE_NOT_STORED)).dump())

}  // namespace

TEST_CASE("a build on an H200 packs a final cubin for its compute capability, and the PTX") {
  KILN_NEEDS_POCL();
  const packs::Contents contents = read_pack(nvidia().full());
  REQUIRE(contents.targets.size() == 1);
  const packs::Target &target = contents.targets[0];
  CHECK(target.key == "profile=nvidia\ncompute_capability=9.0\naddress_bits=64\n");
  CHECK(target.profile == "nvidia");
  REQUIRE(target.binaries.size() == 1);
  REQUIRE(target.intermediates.size() == 1);
  const std::string ptx = bytes_of(target.intermediates[0].blob);
  const std::string cubin = bytes_of(target.binaries[0].blob);
  const auto read = shapes::read_ptx(ptx);
  REQUIRE(read);
  CHECK(read->target == 90);
  CHECK(cubin == shapes::cubin_of(90, read->payload));
  const packs::Finish &finish = target.binaries[0].finish;
  CHECK(finish.finality == Finality::yes);
  CHECK(finish.why_not == "");
  CHECK(finish.finisher == "nvidia-linker 1");
  CHECK(finish.driver == kDriver);
  CHECK(finish.unfinished_size == ptx.size());
  CHECK(finish.local_sizes.empty());
  const packs::Finish &below = target.intermediates[0].finish;
  CHECK(below.finality == Finality::no);
  CHECK(below.why_not == kCompiles);
  CHECK(below.driver == kDriver);
  CHECK_FALSE(target.auxiliary);
}

TEST_CASE("a cubin whose first launch compiles is packed, and said to be not final") {
  KILN_NEEDS_POCL();
  const std::string slow =
      fault("clEnqueueNDRangeKernel", "slow", "nth = 1\nform = \"cubin\"\nmilliseconds = 50\n");
  const Build build = nvidia().build(with_binary(slow), nvidia().path("slow.kiln"));
  INFO(texts(build.failures).dump());
  REQUIRE(build.failures.empty());
  REQUIRE(build.unfinished.size() == 1);
  CHECK(build.unfinished[0].text == "its first launch compiles");
  CHECK(build.target("9.0").binaries.at(0).finish.finality == Finality::no);
  const Run run = nvidia().start(Gpu(), nvidia().path("slow.kiln"));
  SHOW(run);
  CHECK(run.rung == "exact");
  CHECK(run.final == false);
  CHECK(run.why_not == "its first launch compiles");
}

TEST_CASE("without finishing there is PTX alone, and both packs load") {
  KILN_NEEDS_POCL();
  BuildOptions plainly;
  plainly.finish = false;
  const std::string plain = nvidia().path("plain.kiln");
  const std::size_t linked = nvidia().driver().calls("cuInit");
  const Build build = nvidia().build(with_linker("log=" + nvidia().path("calls")), plain, plainly);
  CHECK(build.failures.empty());
  CHECK(nvidia().driver().calls("cuInit") == linked);
  CHECK(build.compiled == 1);
  REQUIRE(build.contents.targets.size() == 1);
  CHECK(build.contents.targets[0].binaries.empty());
  REQUIRE(build.contents.targets[0].intermediates.size() == 1);
  const packs::Finish &finish = build.contents.targets[0].intermediates[0].finish;
  CHECK(finish.finisher == "");
  CHECK(finish.finality == Finality::no);
  CHECK(finish.why_not == kCompiles);

  const Run exact = nvidia().start(Gpu(), nvidia().full());
  {
    SHOW(exact);
    CHECK(exact.rung == "exact");
    CHECK(exact.right);
    CHECK(exact.jits == 0);
    CHECK(exact.final == true);
    CHECK(exact.why_not == "");
  }
  const Run below = nvidia().start(Gpu(), plain);
  SHOW(below);
  CHECK(below.rung == "intermediate");
  CHECK(below.right);
  CHECK(below.jits == 1);
  CHECK(below.final == false);
  CHECK(below.why_not == kCompiles);
  CHECK(below.reason("exact") == "the target has no binary of this variant");
}

TEST_CASE("a driver update keeps the exact rung, and an earlier driver's reason names both") {
  KILN_NEEDS_POCL();
  const Run later = nvidia().start(with_driver(kLaterDriver), nvidia().full());
  {
    SHOW(later);
    CHECK(later.rung == "exact");
    CHECK(later.right);
    CHECK(later.jits == 0);
    CHECK(later.final == true);
  }
  const Gpu earlier = with_driver(kEarlierDriver);
  const std::string reason = "the binary was made by the later driver " + std::string(kDriver) +
                             ", and this one is " + kEarlierDriver;
  const Run missed = nvidia().start(earlier, nvidia().full());
  {
    SHOW(missed);
    CHECK(missed.rung == "intermediate");
    CHECK(missed.right);
    CHECK(missed.jits == 1);
    CHECK(missed.outcome("exact") == "missed");
    CHECK(missed.reason("exact") == reason);
    CHECK(missed.reason("compatible") == "not asked for");
  }
  const Run asked = nvidia().start(earlier, nvidia().full(), from("", KILN_LOAD_COMPATIBLE));
  {
    SHOW(asked);
    CHECK(asked.rung == "compatible");
    CHECK(asked.right);
    CHECK(asked.jits == 0);
    CHECK(asked.reason("exact") == reason);
    CHECK(asked.has_note("a driver may take what a later one made"));
  }
  Gpu refusing = earlier;
  refusing.binary = "cubin = \"refuse\"";
  const Run refused = nvidia().start(refusing, nvidia().full(), from("", KILN_LOAD_COMPATIBLE));
  SHOW(refused);
  CHECK(refused.rung == "intermediate");
  CHECK(refused.outcome("compatible") == "failed");
  CHECK(refused.right);
}

TEST_CASE("PTX of a language that an earlier driver does not know leads on to the source") {
  KILN_NEEDS_POCL();
  Gpu earlier = with_driver(kEarlierDriver);
  earlier.ptx = "8.5";
  const Run run = nvidia().start(earlier, nvidia().full());
  SHOW(run);
  CHECK(run.rung == "source");
  CHECK(run.right);
  CHECK(run.outcome("intermediate") == "failed");
  CHECK(holds(run.reason("intermediate"), "CL_INVALID_BINARY"));
  CHECK(run.final == false);
  CHECK(run.why_not == "it was compiled here");
}

TEST_CASE("a GPU of a later minor compute capability takes the cubin where that is asked for") {
  KILN_NEEDS_POCL();
  const Run without = nvidia().start(with_capability(91), nvidia().full());
  {
    SHOW(without);
    CHECK(without.rung == "intermediate");
    CHECK(without.right);
    CHECK(without.reason("exact") == "no target of the pack has this device's binary key");
  }
  const Run with_it =
      nvidia().start(with_capability(91), nvidia().full(), from("", KILN_LOAD_COMPATIBLE));
  SHOW(with_it);
  CHECK(with_it.rung == "compatible");
  CHECK(with_it.right);
  CHECK(with_it.jits == 0);
  CHECK(with_it.final == true);
  CHECK(with_it.has_note("NVIDIA's GPUs take code for lower minor compute capabilities"));
}

TEST_CASE("an earlier GPU takes neither cubin nor PTX") {
  KILN_NEEDS_POCL();
  for (const unsigned capability : {80u, 89u}) {
    const Run run = nvidia().start(with_capability(capability), nvidia().full(),
                                   from("", KILN_LOAD_COMPATIBLE));
    SHOW(run);
    CHECK(run.rung == "source");
    CHECK(run.right);
    CHECK(run.jits == 0);
    CHECK(run.reason("intermediate") ==
          "the pack has no intermediate form for this device's architecture");
    CHECK(run.outcome("compatible") == "missed");
  }
}

TEST_CASE("a GPU of a later architecture compiles the PTX once, and has its own cubin then") {
  KILN_NEEDS_POCL();
  const Gpu later = with_capability(100);
  for (const bool by_release : {false, true}) {
    const std::string overlay = nvidia().new_overlay();
    How how = from(overlay);
    how.finish = !by_release;
    how.end = !by_release;
    const Run first = nvidia().start(later, nvidia().full(), how);
    {
      INFO("by release: " << by_release);
      SHOW(first);
      CHECK(first.rung == "intermediate");
      CHECK(first.right);
      CHECK(first.jits == 1);
      CHECK(first.final == false);
      CHECK(first.why_not == kCompiles);
      CHECK(first.all(KILN_NOTICE_STORED) ==
            std::vector<std::string>{"the finished binary was stored in the overlay"});
    }
    const Run second = nvidia().start(later, nvidia().full(), from(overlay));
    {
      SHOW(second);
      CHECK(second.rung == "overlay");
      CHECK(second.right);
      CHECK(second.jits == 0);
      CHECK(second.final == true);
      CHECK(second.all(KILN_NOTICE_STORED).empty());
    }
    const std::string settled = snapshot(overlay);
    const Run third = nvidia().start(later, nvidia().full(), from(overlay));
    CHECK(third.rung == "overlay");
    CHECK(snapshot(overlay) == settled);
    const auto read = builder::read_overlay(overlay);
    REQUIRE(read.ok());
    const builder::OverlayFolder &folder = *read;
    REQUIRE(folder.binaries.size() == 1);
    const auto cubin = shapes::read_cubin(bytes_of(folder.binaries[0].binary().blob));
    REQUIRE(cubin);
    CHECK(cubin->target == 100);
    // The H200 in the next slot finds its own in the pack, and not this one.
    const Run h200 = nvidia().start(Gpu(), nvidia().full(), from(overlay));
    CHECK(h200.rung == "exact");
  }
}

TEST_CASE("what an application leaves behind that ends before it finished, the next improves") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  How hasty = from(overlay);
  hasty.end = true;
  const Run first = nvidia().start(Gpu(), nvidia().base(), hasty);
  {
    SHOW(first);
    CHECK(first.rung == "source");
    CHECK(first.right);
    CHECK(first.has_note("the driver's binary was stored in the overlay"));
    CHECK(first.final == false);
  }
  const Run second = nvidia().start(Gpu(), nvidia().base(), from(overlay));
  {
    SHOW(second);
    CHECK(second.rung == "overlay");
    CHECK(second.right);
    CHECK(second.jits == 1);
    CHECK(second.final == false);
    CHECK(second.why_not == "an earlier start ended before it finished this binary");
    CHECK(second.notice(KILN_NOTICE_STORED) == "the finished binary was stored in the overlay");
  }
  const Run third = nvidia().start(Gpu(), nvidia().base(), from(overlay));
  SHOW(third);
  CHECK(third.rung == "overlay");
  CHECK(third.right);
  CHECK(third.jits == 0);
  CHECK(third.final == true);
  CHECK(entries_in(overlay) == 1);
}

TEST_CASE("the first start of a pack with source alone leaves a cubin when it is released") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  CHECK(nvidia().start(Gpu(), nvidia().base(), from(overlay)).rung == "source");
  const Run second = nvidia().start(Gpu(), nvidia().base(), from(overlay));
  SHOW(second);
  CHECK(second.rung == "overlay");
  CHECK(second.right);
  CHECK(second.jits == 0);
  CHECK(second.final == true);
  // An update takes it as it is; a driver from before it does not, and makes its own.
  const Run updated = nvidia().start(with_driver(kLaterDriver), nvidia().base(), from(overlay));
  {
    SHOW(updated);
    CHECK(updated.rung == "overlay");
    CHECK(updated.jits == 0);
  }
  const Run back = nvidia().start(with_driver(kEarlierDriver), nvidia().base(), from(overlay));
  {
    SHOW(back);
    CHECK(back.rung == "source");
    CHECK(back.outcome("overlay") == "missed");
    CHECK(back.reason("overlay") == "the overlay's binary was made by the later driver " +
                                        std::string(kDriver) + ", and this one is " +
                                        kEarlierDriver);
  }
  for (const char *const version : {kEarlierDriver, kDriver}) {
    const Run own = nvidia().start(with_driver(version), nvidia().base(), from(overlay));
    SHOW(own);
    CHECK(own.rung == "overlay");
    CHECK(own.final == true);
  }
}

TEST_CASE("an overlay's PTX gives way to the pack's final cubin") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  How hasty = from(overlay);
  hasty.end = true;
  REQUIRE(nvidia().start(Gpu(), nvidia().base(), hasty).rung == "source");
  const Run run = nvidia().start(Gpu(), nvidia().full(), hasty);
  SHOW(run);
  CHECK(run.rung == "exact");
  CHECK(run.reason("overlay") == "it is not final, and the pack's binary is");
  CHECK(run.outcome("overlay") == "missed");
  CHECK(run.jits == 0);
}

TEST_CASE("a linker that does its work badly costs a job its cubin alone") {
  KILN_NEEDS_POCL();
  const std::string other =
      "[[platform]]\nname = \"Scripted platform\"\n[[platform.device]]\nforward = true\n"
      "name = \"Scripted GPU\"\nvendor = \"Kiln\"\nversion = \"OpenCL 3.0 scripted\"\n"
      "driver_version = \"1.0\"\n";
  const std::string log =
      "ptxas application ptx input, line 7; fatal   : Parsing error near "
      "'scripted'\nptxas fatal   : Ptx assembly aborted due to errors\n";
  const struct {
    const char *linker;
    std::string why;
  } rows[] = {
      {"refuse",
       "it could not be finished: CUDA 13.0's linker refused the PTX: "
       "cuLinkAddData_v2 returned CUDA_ERROR_INVALID_PTX (218): ptxas application ptx "
       "input, line 7; fatal   : Parsing error near 'scripted'\n" +
           log},
      {"refuse,later", "cuLinkComplete returned CUDA_ERROR_INVALID_PTX (218)"},
      {"garbage", "it could not be finished: CUDA 13.0's linker made something that is no cubin"},
      {"no_device", "it could not be finished: cuInit returned CUDA_ERROR_NO_DEVICE (100)"},
      {"segv", "the process that finished it ended: crashed with signal 11"},
      {"exit,later", "the process that finished it ended: "},
      {"hang", "the process that finished it ended: "}};
  for (const auto &row : rows) {
    const std::string pack = nvidia().path("bad-linker.kiln");
    BuildOptions options;
    options.timeout = std::chrono::seconds(std::string(row.linker) == "hang" ? 6 : 60);
    const Build build =
        nvidia().build(with_linker(row.linker), pack, options, "", launchable(), other);
    INFO(row.linker << texts(build.failures).dump() << texts(build.unfinished).dump());
    CHECK(build.failures.empty());
    CHECK(build.compiled == 2);
    REQUIRE(build.contents.targets.size() == 2);
    const packs::Target &target = build.target("compute_capability=9.0");
    CHECK(target.binaries.empty());
    REQUIRE(target.intermediates.size() == 1);
    const packs::Finish &finish = target.intermediates[0].finish;
    CHECK(finish.finality == Finality::no);
    // Without a device the linker has not refused anything.
    CHECK(finish.finisher == (row.linker == std::string("no_device") ? "" : "nvidia-linker 1"));
    CHECK(finish.driver == kDriver);
    CHECK(holds(finish.why_not, row.why));
    const auto named =
        std::find_if(build.unfinished.begin(), build.unfinished.end(),
                     [](const builder::JobFailure &one) { return holds(one.job, "NVIDIA H200"); });
    REQUIRE(named != build.unfinished.end());
    CHECK(named->text == finish.why_not);
    CHECK(build.target("Scripted GPU").binaries.size() == 1);
    const Run run = nvidia().start(Gpu(), pack);
    CHECK(run.rung == "intermediate");
    CHECK(run.right);
  }
}

namespace {

// The reason why the PTX that such a build packs was not finished; the PTX serves.
std::string unfinished_reason(const Gpu &gpu) {
  const std::string pack = nvidia().path("unfinished.kiln");
  const Build build = nvidia().build(gpu, pack);
  INFO(texts(build.failures).dump() << texts(build.unfinished).dump());
  CHECK(build.failures.empty());
  REQUIRE(build.contents.targets.size() == 1);
  CHECK(build.contents.targets[0].binaries.empty());
  REQUIRE(build.contents.targets[0].intermediates.size() == 1);
  const std::string why = build.contents.targets[0].intermediates[0].finish.why_not;
  REQUIRE(build.unfinished.size() == 1);
  CHECK(build.unfinished[0].text == why);
  const Run run = nvidia().start(gpu, pack, from(nvidia().new_overlay()));
  SHOW(run);
  CHECK(run.rung == "intermediate");
  CHECK(run.right);
  return why;
}

}  // namespace

TEST_CASE("a libcuda without the linker's functions costs a job its cubin alone") {
  KILN_NEEDS_POCL();
  Gpu gpu;
  gpu.library = KILN_FAKE_CUDA_OLD;
  CHECK(unfinished_reason(gpu) == "it could not be finished: libcuda.so.1 has no cuLinkComplete");
}

// Run alone by ctest, without the fake's folder.
TEST_CASE("a machine without libcuda packs PTX and says why", "[.none]") {
  KILN_NEEDS_POCL();
  const ChildResult child =
      nvidia().process(Gpu(), []() -> json { return dlopen("libcuda.so.1", RTLD_NOW) != nullptr; });
  if (child.answer == true) KILN_SKIP("this machine has a libcuda.so.1");
  CHECK(unfinished_reason(Gpu()) ==
        "it could not be finished: no libcuda.so.1: cannot open shared object file: No such file "
        "or directory");
}

TEST_CASE("a linker that dies in the application is not tried again") {
  KILN_NEEDS_POCL();
  for (const char *const way : {"segv", "abort,later", "exit"}) {
    const std::string overlay = nvidia().new_overlay();
    const Gpu deadly = [&] {
      Gpu gpu = with_capability(100);
      gpu.linker = way;
      return gpu;
    }();
    How how = from(overlay);
    how.finish = true;
    const Run first = nvidia().start(deadly, nvidia().full(), how);
    INFO(way << first.child.reason());
    CHECK_FALSE(first.child.ok());
    const Run second = nvidia().start(deadly, nvidia().full(), how);
    {
      SHOW(second);
      REQUIRE(second.child.ok());
      CHECK(second.rung == "intermediate");
      CHECK(second.right);
      CHECK(second.notice(KILN_NOTICE_DEATH) == "an earlier process ended inside the driver");
      CHECK(second.all(KILN_NOTICE_NOT_STORED) ==
            std::vector<std::string>{"the binary was not finished for the overlay: the driver's "
                                     "linker died or hung over it"});
    }
    const std::string settled = snapshot(overlay);
    const Run third = nvidia().start(deadly, nvidia().full(), how);
    SHOW(third);
    CHECK(third.rung == "intermediate");
    CHECK(third.right);
    CHECK(third.notice(KILN_NOTICE_DEATH) == "-");
    CHECK(snapshot(overlay) == settled);
  }
}

namespace {

// Packs of three other programs, with source alone, under the same name.
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

}  // namespace

TEST_CASE("two programs that the linker died of do not stop others from being kept") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  const std::vector<std::string> packs_of = other_programs();
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(
        nvidia()
            .start(with_linker("segv"), packs_of[static_cast<std::size_t>(i)], from(overlay))
            .child.ok());
  }
  const Run third = nvidia().start(Gpu(), packs_of[2], from(overlay));
  {
    SHOW(third);
    CHECK(third.rung == "source");
    CHECK(third.right);
    CHECK(third.has_note("the driver's binary was stored in the overlay"));
  }
  const Run again = nvidia().start(Gpu(), packs_of[2], from(overlay));
  SHOW(again);
  CHECK(again.rung == "overlay");
}

TEST_CASE("a linker that refuses in the application leaves the PTX, and its log in the notice") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  const Run first = nvidia().start(with_linker("refuse"), nvidia().base(), from(overlay));
  {
    SHOW(first);
    CHECK(first.rung == "source");
    CHECK(holds(first.notice(KILN_NOTICE_NOT_STORED),
                "the binary was not finished for the "
                "overlay: CUDA 13.0's linker refused the PTX"));
    CHECK(holds(first.notice(KILN_NOTICE_NOT_STORED), "Ptx assembly aborted due to errors"));
  }
  const Run second = nvidia().start(with_linker("refuse"), nvidia().base(), from(overlay));
  SHOW(second);
  CHECK(second.rung == "overlay");
  CHECK(second.final == false);
  CHECK(second.right);
}

TEST_CASE("a damaged cubin in a pack never reaches the driver") {
  KILN_NEEDS_POCL();
  const std::string good = [] {
    std::ifstream file(nvidia().full(), std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)), {});
  }();
  const packs::Contents contents = read_pack(nvidia().full());
  const std::string cubin = bytes_of(contents.targets[0].binaries[0].blob);
  const std::size_t at = good.find(cubin);
  REQUIRE(at != std::string::npos);
  const std::string damaged = nvidia().path("damaged.kiln");
  constexpr std::size_t kRegions = 16;
  for (std::size_t region = 0; region < kRegions; ++region) {
    std::string bad = good;
    const std::size_t place = at + region * (cubin.size() - 1) / (kRegions - 1);
    bad[place] = static_cast<char>(bad[place] ^ (1 << (region % 8)));
    std::ofstream(damaged, std::ios::binary) << bad;
    const Run run = nvidia().start(with_binary("corrupt = \"segv\""), damaged);
    INFO("byte " << place - at << " of " << cubin.size());
    SHOW(run);
    REQUIRE(run.child.ok());
    CHECK(run.rung == "intermediate");
    CHECK(run.right);
    CHECK(run.outcome("exact") == "failed");
    CHECK(holds(run.reason("exact"), "hash"));
  }
}

TEST_CASE("a cubin of another architecture under this device's key is refused, and PTX serves") {
  KILN_NEEDS_POCL();
  packs::Contents forged = read_pack(nvidia().full());
  packs::Target &target = forged.targets[0];
  const std::string payload = shapes::read_cubin(bytes_of(target.binaries[0].blob))->payload;
  const std::string pack = nvidia().path("forged.kiln");
  for (const unsigned other : {80u, 91u, 100u}) {
    target.binaries[0].blob = blob(shapes::cubin_of(other, payload));
    save(forged, pack);
    const Run run = nvidia().start(Gpu(), pack);
    INFO(other);
    SHOW(run);
    CHECK(run.rung == "intermediate");
    CHECK(run.right);
    CHECK(run.outcome("exact") == "failed");
    CHECK(holds(run.reason("exact"), "CL_INVALID_BINARY"));
  }
  target.intermediates.clear();
  save(forged, pack);
  const Run run = nvidia().start(Gpu(), pack);
  SHOW(run);
  CHECK(run.rung == "source");
  CHECK(run.right);
}

TEST_CASE("sixty damaged cubins with the right hashes cost a process each at most") {
  KILN_NEEDS_POCL();
  packs::Contents forged = read_pack(nvidia().full());
  packs::Target &target = forged.targets[0];
  const std::string cubin = bytes_of(target.binaries[0].blob);
  const std::string pack = nvidia().path("mutated.kiln");
  const char *const ways[] = {"segv", "abort", "exit", "refuse"};
  unsigned deaths = 0;
  for (unsigned i = 0; i < 60; ++i) {
    std::string bad = cubin;
    const std::size_t place = i * (cubin.size() - 1) / 59;
    if (i % 5 == 4) {
      bad.resize(place);
      if (bad.empty()) continue;
    } else {
      bad[place] = static_cast<char>(bad[place] ^ (1 + i));
    }
    target.binaries[0].blob = blob(bad);
    save(forged, pack);
    const Gpu gpu = with_binary(std::string("corrupt = \"") + ways[i % 4] + "\"");
    const std::string overlay = nvidia().new_overlay();
    const Run first = nvidia().start(gpu, pack, from(overlay));
    if (first.child.ok()) {
      CHECK(first.right);
      CHECK(first.rung == "intermediate");
    } else {
      ++deaths;
    }
    const Run second = nvidia().start(gpu, pack, from(overlay));
    INFO(i << " " << ways[i % 4]);
    SHOW(second);
    REQUIRE(second.child.ok());
    CHECK(second.right);
    CHECK(second.jits <= 1);
    if (!first.child.ok()) CHECK(second.reason("exact") == kGivenDied);
    const Run third = nvidia().start(gpu, pack, from(overlay));
    SHOW(third);
    REQUIRE(third.child.ok());
    CHECK(third.right);
    CHECK(third.rung == "overlay");
  }
  CHECK(deaths >= 30);
}

TEST_CASE("a driver that dies at a cubin's first launch is given the PTX from then on") {
  KILN_NEEDS_POCL();
  for (const char *const way : {"segv", "abort", "exit"}) {
    const std::string overlay = nvidia().new_overlay();
    const Gpu deadly = with_binary(fault("clEnqueueNDRangeKernel", way, "form = \"cubin\""));
    const Run first = nvidia().start(deadly, nvidia().full(), from(overlay));
    INFO(way << first.child.reason());
    CHECK_FALSE(first.child.ok());
    CHECK(markers_in(overlay) == 1);
    const Run second = nvidia().start(deadly, nvidia().full(), from(overlay));
    {
      SHOW(second);
      REQUIRE(second.child.ok());
      CHECK(second.rung == "intermediate");
      CHECK(second.right);
      CHECK(second.outcome("exact") == "quarantined");
      CHECK(second.reason("exact") == kLaunchDied);
      CHECK(second.notice(KILN_NOTICE_DEATH) == "an earlier process ended inside the driver");
    }
    std::string settled = snapshot(overlay);
    for (int i = 0; i < 2; ++i) {
      const Run later = nvidia().start(deadly, nvidia().full(), from(overlay));
      INFO("start " << 3 + i);
      SHOW(later);
      CHECK(later.child.ok());
      CHECK(later.right);
      CHECK(later.jits <= 1);
      CHECK(later.notice(KILN_NOTICE_DEATH) == "-");
      CHECK(markers_in(overlay) == 0);
      CHECK(snapshot(overlay) == settled);
      settled = snapshot(overlay);
    }
  }
}

TEST_CASE("a cubin of the overlay that kills at its first launch is not made again and again") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  const Gpu deadly = with_binary(fault("clEnqueueNDRangeKernel", "segv", "form = \"cubin\""));
  CHECK(nvidia().start(deadly, nvidia().base(), from(overlay)).rung == "source");
  const Run second = nvidia().start(deadly, nvidia().base(), from(overlay));
  CHECK_FALSE(second.child.ok());
  const Run third = nvidia().start(deadly, nvidia().base(), from(overlay));
  {
    SHOW(third);
    REQUIRE(third.child.ok());
    CHECK(third.reason("overlay") == kLaunchDied);
    CHECK(third.right);
  }
  std::string settled;
  for (int i = 0; i < 3; ++i) {
    const Run later = nvidia().start(deadly, nvidia().base(), from(overlay));
    INFO("start " << 4 + i);
    SHOW(later);
    REQUIRE(later.child.ok());
    CHECK(later.right);
    CHECK(later.rung == "overlay");  // the PTX, which is better than the source
    if (i == 2) CHECK(snapshot(overlay) == settled);
    settled = snapshot(overlay);
  }
}

TEST_CASE("two programs that died at their first launch do not stop others from being kept") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  const std::vector<std::string> packs_of = other_programs();
  const Gpu deadly = with_binary(fault("clEnqueueNDRangeKernel", "segv"));
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK_FALSE(nvidia().start(deadly, packs_of[i], from(overlay)).child.ok());
  }
  const Run third = nvidia().start(Gpu(), packs_of[2], from(overlay));
  SHOW(third);
  CHECK(third.rung == "source");
  CHECK(third.right);
  CHECK(third.has_note("the driver's binary was stored in the overlay"));
}

TEST_CASE("a launch that is refused in good order leaves the next one marked") {
  KILN_NEEDS_POCL();
  How how = from(nvidia().new_overlay());
  how.retry = true;
  const Gpu deadly = with_binary(fault("clEnqueueNDRangeKernel", "error", "nth = 1\ncode = -52") +
                                 fault("clEnqueueNDRangeKernel", "segv", "form = \"cubin\""));
  CHECK_FALSE(nvidia().start(deadly, nvidia().full(), how).child.ok());
  const Run second = nvidia().start(deadly, nvidia().full(), how);
  SHOW(second);
  REQUIRE(second.child.ok());
  CHECK(second.reason("exact") == kLaunchDied);
  CHECK(second.rung == "intermediate");
  CHECK(second.right);
}

TEST_CASE("what the driver refuses of its own linker is not linked at each start") {
  KILN_NEEDS_POCL();
  const auto links = [] { return nvidia().driver().calls("cuLinkAddData_v2"); };
  const std::string log = ",log=" + nvidia().path("calls");
  for (const bool refuses_cubin : {true, false}) {
    const std::string overlay = nvidia().new_overlay();
    Gpu gpu = with_binary(refuses_cubin ? "cubin = \"refuse\"" : "");
    gpu.linker = (refuses_cubin ? "" : "refuse") + log;
    const std::string pack = refuses_cubin ? nvidia().full() : nvidia().base();
    for (int i = 0; i < 2; ++i) CHECK(nvidia().start(gpu, pack, from(overlay)).right);
    const std::size_t before = links();
    const Run third = nvidia().start(gpu, pack, from(overlay));
    INFO("the driver refuses cubins: " << refuses_cubin);
    SHOW(third);
    CHECK(third.right);
    CHECK(links() == before);
    CHECK(third.notice(KILN_NOTICE_STORED) == "-");
  }
}

TEST_CASE("launches that end well and processes that launch nothing leave no marker") {
  KILN_NEEDS_POCL();
  for (const bool end : {false, true}) {
    const std::string launched = nvidia().new_overlay();
    How how = from(launched);
    how.end = end;
    for (int i = 0; i < 10; ++i) {
      const Run run = nvidia().start(Gpu(), nvidia().full(), how);
      INFO(i << " end " << end);
      SHOW(run);
      CHECK(run.rung == "exact");
      CHECK(run.right);
      CHECK(run.notice(KILN_NOTICE_DEATH) == "-");
      if (!end) CHECK(markers_in(launched) == 0);
    }
    How idle = from(nvidia().new_overlay());
    idle.launch = false;
    idle.end = end;
    for (int i = 0; i < 2; ++i) {
      const Run run = nvidia().start(Gpu(), nvidia().full(), idle);
      CHECK(run.rung == "exact");
      CHECK(run.notice(KILN_NOTICE_DEATH) == "-");
      if (!end) CHECK(markers_in(idle.overlay) == 0);
    }
  }
}

TEST_CASE("a process that ends right after its first result has not died of the launch") {
  KILN_NEEDS_POCL();
  for (int i = 0; i < 20; ++i) {
    How how = from(nvidia().new_overlay());
    how.abrupt = true;
    const Run first = nvidia().start(Gpu(), nvidia().full(), how);
    CHECK(first.child.end == ChildEnd::exited);
    CHECK(first.child.code == 0);
    how.abrupt = false;
    const Run second = nvidia().start(Gpu(), nvidia().full(), how);
    INFO(i);
    SHOW(second);
    CHECK(second.rung == "exact");
    CHECK(second.notice(KILN_NOTICE_DEATH) == "-");
  }
}

TEST_CASE(
    "code for a later architecture is made beside the device's own, and marked as never run") {
  KILN_NEEDS_POCL();
  const std::string pack = nvidia().path("also.kiln");
  BuildOptions options;
  options.also = {1000};
  const Build build = nvidia().build(Gpu(), pack, options);
  INFO(texts(build.failures).dump() << texts(build.unfinished).dump());
  CHECK(build.failures.empty());
  CHECK(build.compiled == 1);
  REQUIRE(build.contents.targets.size() == 2);
  const packs::Target &other = build.target("compute_capability=10.0");
  CHECK(other.key == "profile=nvidia\ncompute_capability=10.0\naddress_bits=64\n");
  CHECK(other.intermediates.empty());
  REQUIRE(other.binaries.size() == 1);
  CHECK(other.binaries[0].finish.finality == Finality::not_launched);
  CHECK(other.binaries[0].finish.why_not == "it was made where no such device is");
  CHECK(other.binaries[0].finish.driver == kDriver);
  CHECK(shapes::read_cubin(bytes_of(other.binaries[0].blob))->target == 100);
  CHECK(build.target("compute_capability=9.0").binaries.at(0).finish.finality == Finality::yes);

  const Run there = nvidia().start(with_capability(100), pack);
  {
    SHOW(there);
    CHECK(there.rung == "exact");
    CHECK(there.right);
    CHECK(there.jits == 0);
    CHECK(there.final == nullptr);
    CHECK(there.why_not == "it was made where no such device is");
  }
  const Build again = nvidia().build(Gpu(), nvidia().path("also-2.kiln"), options, pack);
  INFO(texts(again.failures).dump());
  CHECK(again.compiled == 0);
  CHECK(again.reused == 1);
  CHECK(again.contents.targets.size() == 2);
  const Build without = nvidia().build(Gpu(), nvidia().path("also-3.kiln"), {}, pack);
  CHECK(without.compiled == 0);
  CHECK(without.contents.targets.size() == 2);
  options.also = {1000, 1200};
  const Build more = nvidia().build(Gpu(), nvidia().path("also-4.kiln"), options, pack);
  CHECK(more.compiled == 1);
  CHECK(more.contents.targets.size() == 3);
}

TEST_CASE("an architecture that the linker cannot make is a failure by name, and nothing is lost") {
  KILN_NEEDS_POCL();
  BuildOptions options;
  options.also = {800, 1000};
  const std::string pack = nvidia().path("also-bad.kiln");
  const Build build = nvidia().build(Gpu(), pack, options);
  INFO(texts(build.failures).dump() << texts(build.unfinished).dump());
  REQUIRE(build.failures.size() == 1);
  CHECK(holds(build.failures[0].job, "triple/plain for NVIDIA CUDA: NVIDIA H200"));
  CHECK(holds(build.failures[0].job, ", for compute capability 8.0"));
  CHECK(holds(build.failures[0].text, "linker refused the PTX"));
  CHECK(build.unfinished.empty());
  CHECK(build.contents.targets.size() == 2);
  CHECK(build.target("=9.0").binaries.size() == 1);
  CHECK(build.target("=9.0").intermediates.size() == 1);
  CHECK(build.target("=10.0").binaries.size() == 1);
}

TEST_CASE("a linker that dies over a later architecture leaves the device's own PTX") {
  KILN_NEEDS_POCL();
  for (const char *const way : {"segv", "hang"}) {
    for (const bool finish : {true, false}) {
      BuildOptions options;
      options.also = {1000};
      options.finish = finish;
      options.timeout = std::chrono::seconds(*way == 'h' ? 6 : 60);
      const Build build =
          nvidia().build(with_linker(way), nvidia().path("also-dead.kiln"), options);
      INFO(way << finish << texts(build.failures).dump() << texts(build.unfinished).dump());
      CHECK(build.compiled == 1);
      REQUIRE(build.contents.targets.size() == 1);
      CHECK(build.contents.targets[0].intermediates.size() == 1);
      // What could not be made is named.
      REQUIRE(build.failures.size() == 1);
      CHECK(holds(build.failures[0].job, "for compute capability 10.0"));
    }
  }
}

TEST_CASE("a build after one without finishing finishes, and one after that does nothing") {
  KILN_NEEDS_POCL();
  BuildOptions plainly;
  plainly.finish = false;
  const std::string plain = nvidia().path("step-1.kiln");
  CHECK(nvidia().build(Gpu(), plain, plainly).compiled == 1);
  CHECK(nvidia().build(Gpu(), nvidia().path("step-1b.kiln"), plainly, plain).reused == 1);
  const std::string whole = nvidia().path("step-2.kiln");
  const Build finished = nvidia().build(Gpu(), whole, {}, plain);
  CHECK(finished.compiled == 1);
  REQUIRE(finished.contents.targets.size() == 1);
  CHECK(finished.contents.targets[0].binaries.size() == 1);
  CHECK(finished.contents.targets[0].intermediates.size() == 1);
  const Build again = nvidia().build(Gpu(), nvidia().path("step-3.kiln"), {}, whole);
  CHECK(again.compiled == 0);
  CHECK(again.reused == 1);
  REQUIRE(again.contents.targets.size() == 1);
  CHECK(again.contents.targets[0].binaries.size() == 1);
  CHECK(again.contents.targets[0].intermediates.size() == 1);
  // Nor does a later driver have anything to do, and an earlier one makes what serves both.
  const Build updated =
      nvidia().build(with_driver(kLaterDriver), nvidia().path("step-4.kiln"), {}, whole);
  CHECK(updated.compiled == 0);
  const Build earlier =
      nvidia().build(with_driver(kEarlierDriver), nvidia().path("step-5.kiln"), {}, whole);
  CHECK(earlier.compiled == 1);
  CHECK(earlier.target("9.0").binaries.at(0).finish.driver == kEarlierDriver);
  // A pack that was finished keeps its cubin when it is built without finishing.
  const Build kept = nvidia().build(Gpu(), nvidia().path("step-6.kiln"), plainly, whole);
  CHECK(kept.compiled == 0);
  CHECK(kept.target("9.0").binaries.size() == 1);
}

TEST_CASE("a build where the linker is there finishes what one without it could not") {
  KILN_NEEDS_POCL();
  Gpu without;
  without.library = KILN_FAKE_CUDA_OLD;
  const std::string pack = nvidia().path("no-linker.kiln");
  REQUIRE(nvidia().build(without, pack).target("9.0").binaries.empty());
  const Build finished = nvidia().build(Gpu(), nvidia().path("with-linker.kiln"), {}, pack);
  CHECK(finished.compiled == 1);
  CHECK(finished.target("9.0").binaries.size() == 1);
  // What a driver's linker refused, a later one's may take.
  const std::string refused = nvidia().path("refused.kiln");
  REQUIRE(nvidia().build(with_linker("refuse"), refused).target("9.0").binaries.empty());
  CHECK(nvidia().build(with_linker("refuse"), nvidia().path("x.kiln"), {}, refused).compiled == 0);
  CHECK(nvidia().build(with_driver(kLaterDriver), nvidia().path("x.kiln"), {}, refused).compiled ==
        1);
}

TEST_CASE("code for other architectures stays when a program is added") {
  KILN_NEEDS_POCL();
  BuildOptions options;
  options.also = {1000};
  packs::Contents two = launchable();
  packs::Variant other = triple_variant("second");
  other.name = "second";
  other.kernels = two.programs[0].variants[0].kernels;
  other.arguments = two.programs[0].variants[0].arguments;
  two.programs[0].variants.push_back(other);
  const std::string first = nvidia().path("grow-1.kiln");
  nvidia().build(Gpu(), first, options);
  const std::string second = nvidia().path("grow-2.kiln");
  const Build grown = nvidia().build(Gpu(), second, options, first, two);
  INFO(texts(grown.failures).dump());
  CHECK(grown.compiled == 1);
  CHECK(grown.reused == 1);
  CHECK(grown.target("=9.0").binaries.size() == 2);
  CHECK(grown.target("=10.0").binaries.size() == 2);
  const Build again = nvidia().build(Gpu(), nvidia().path("grow-3.kiln"), options, second, two);
  CHECK(again.compiled == 0);
  CHECK(again.target("=10.0").binaries.size() == 2);
}

TEST_CASE("final code that a device made itself stays where another makes code for it") {
  KILN_NEEDS_POCL();
  const std::string there = nvidia().path("there.kiln");
  const Build own = nvidia().build(with_capability(100), there);
  REQUIRE(own.target("=10.0").binaries.at(0).finish.finality == Finality::yes);
  BuildOptions options;
  options.also = {1000};
  const Build both = nvidia().build(Gpu(), nvidia().path("both.kiln"), options, there);
  INFO(texts(both.failures).dump());
  CHECK(both.target("=9.0").binaries.size() == 1);
  CHECK(both.target("=10.0").binaries.at(0).finish.finality == Finality::yes);
  CHECK(both.target("=10.0").intermediates.size() == 1);
}

TEST_CASE("of the PTX for several architectures the highest that fits is taken") {
  KILN_NEEDS_POCL();
  packs::Contents both = read_pack(nvidia().full());
  const Build older = nvidia().build(with_capability(80), nvidia().path("ampere.kiln"));
  REQUIRE(packs::merge(older.contents, &both).message == "");
  REQUIRE(both.targets.size() == 2);
  const std::string pack = nvidia().path("architectures.kiln");
  save(both, pack);
  const struct {
    unsigned capability;
    const char *key;
  } rows[] = {{100, "=9.0"}, {120, "=9.0"}, {89, "=8.0"}};
  for (const auto &row : rows) {
    const Run run = nvidia().start(with_capability(row.capability), pack);
    INFO(row.capability);
    SHOW(run);
    CHECK(run.rung == "intermediate");
    CHECK(run.right);
    const auto target =
        std::find_if(both.targets.begin(), both.targets.end(),
                     [&](const packs::Target &one) { return holds(one.key, row.key); });
    REQUIRE(target != both.targets.end());
    CHECK(holds(run.report, packs::hex(target->intermediates[0].blob.name())));
  }
}

TEST_CASE("packs of two drivers merge into one target with the earlier driver's cubin") {
  KILN_NEEDS_POCL();
  const std::string later = nvidia().path("later.kiln");
  nvidia().build(with_driver(kLaterDriver), later);
  const packs::Contents old_pack = read_pack(nvidia().full());
  const packs::Contents new_pack = read_pack(later);
  for (const bool old_first : {true, false}) {
    packs::Contents merged = old_first ? old_pack : new_pack;
    REQUIRE(packs::merge(old_first ? new_pack : old_pack, &merged).message == "");
    REQUIRE(merged.targets.size() == 1);
    REQUIRE(merged.targets[0].binaries.size() == 1);
    CHECK(merged.targets[0].binaries[0].finish.driver == kDriver);
    REQUIRE(merged.targets[0].intermediates.size() == 1);
    CHECK(merged.targets[0].intermediates[0].finish.driver == kDriver);
    const std::string pack = nvidia().path("merged.kiln");
    save(merged, pack);
    for (const char *const version : {kDriver, kLaterDriver}) {
      const Run run = nvidia().start(with_driver(version), pack);
      SHOW(run);
      CHECK(run.rung == "exact");
      CHECK(run.right);
    }
  }
}

TEST_CASE("an overlay's PTX is exported as an intermediate, its cubin as a binary") {
  KILN_NEEDS_POCL();
  const std::string overlay = nvidia().new_overlay();
  How hasty = from(overlay);
  hasty.end = true;
  REQUIRE(nvidia().start(Gpu(), nvidia().base(), hasty).rung == "source");
  const auto exported = [&] {
    const auto read = builder::read_overlay(overlay);
    REQUIRE(read.ok());
    const builder::OverlayFolder &folder = *read;
    packs::Contents contents = builder::overlay_contents(folder);
    REQUIRE(contents.targets.size() == 1);
    CHECK(contents.targets[0].key == "profile=nvidia\ncompute_capability=9.0\naddress_bits=64\n");
    packs::Contents merged = launchable();
    REQUIRE(packs::merge(contents, &merged).message == "");
    return merged;
  };
  const std::string pack = nvidia().path("exported.kiln");
  const packs::Contents ptx = exported();
  CHECK(ptx.targets[0].binaries.empty());
  REQUIRE(ptx.targets[0].intermediates.size() == 1);
  CHECK(ptx.targets[0].intermediates[0].finish.finality == Finality::no);
  CHECK(ptx.targets[0].intermediates[0].finish.driver == kDriver);
  save(ptx, pack);
  const Run below = nvidia().start(Gpu(), pack);
  {
    SHOW(below);
    CHECK(below.rung == "intermediate");
    CHECK(below.right);
  }
  REQUIRE(nvidia().start(Gpu(), nvidia().base(), from(overlay)).rung == "overlay");
  const packs::Contents cubin = exported();
  CHECK(cubin.targets[0].intermediates.empty());
  REQUIRE(cubin.targets[0].binaries.size() == 1);
  CHECK(cubin.targets[0].binaries[0].finish.driver == kDriver);
  save(cubin, pack);
  const Run exact = nvidia().start(with_driver(kLaterDriver), pack);
  {
    SHOW(exact);
    CHECK(exact.rung == "exact");
    CHECK(exact.right);
    CHECK(exact.jits == 0);
  }
  const Run earlier = nvidia().start(with_driver(kEarlierDriver), pack);
  SHOW(earlier);
  CHECK(earlier.rung == "source");
}

// SPDX-License-Identifier: Apache-2.0
// Building for a GPU of NVIDIA's shape: what is packed, finished, kept and merged.
#include "tests/driver/nvidia.hpp"

using namespace kiln;
using namespace kiln::test;

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
  CHECK_FALSE(target.cache_entries);
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
    options.limits.timeout = std::chrono::seconds(std::string(row.linker) == "hang" ? 6 : 60);
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

TEST_CASE(
    "code for a later architecture is made beside the device's own, and marked as never run") {
  KILN_NEEDS_POCL();
  const std::string pack = nvidia().path("also.kiln");
  BuildOptions options;
  options.gpu_archs = {1000};
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
  options.gpu_archs = {1000, 1200};
  const Build more = nvidia().build(Gpu(), nvidia().path("also-4.kiln"), options, pack);
  CHECK(more.compiled == 1);
  CHECK(more.contents.targets.size() == 3);
}

TEST_CASE("an architecture that the linker cannot make is a failure by name, and nothing is lost") {
  KILN_NEEDS_POCL();
  BuildOptions options;
  options.gpu_archs = {800, 1000};
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
      options.gpu_archs = {1000};
      options.finish = finish;
      options.limits.timeout = std::chrono::seconds(*way == 'h' ? 6 : 60);
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
  // Without finishing there is no cubin, whatever the earlier pack has.
  const Build bare = nvidia().build(Gpu(), nvidia().path("step-6.kiln"), plainly, whole);
  CHECK(bare.compiled == 1);
  CHECK(bare.target("9.0").binaries.empty());
  CHECK(bare.target("9.0").intermediates.size() == 1);
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
  options.gpu_archs = {1000};
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
  options.gpu_archs = {1000};
  const Build both = nvidia().build(Gpu(), nvidia().path("both.kiln"), options, there);
  INFO(texts(both.failures).dump());
  CHECK(both.target("=9.0").binaries.size() == 1);
  CHECK(both.target("=10.0").binaries.at(0).finish.finality == Finality::yes);
  CHECK(both.target("=10.0").intermediates.size() == 1);
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

// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iostream>
#include <set>

#include <fmt/format.h>

#include "builder/base/build_log.hpp"
#include "builder/compile/base_pack.hpp"
#include "builder/jobs/device_build.hpp"
#include "builder/jobs/job_runner.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/virtual/posing_device.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/pocl.hpp"
#include "tests/support/scripted_driver.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

packs::Bytes bytes(const std::string &text) { return {text.begin(), text.end()}; }

packs::Variant of_source(const std::string &source, const std::string &kernel) {
  packs::Variant v;
  v.name = kernel;
  v.hash = kiln::packs::variant_hash(source, "", {kernel});
  v.kernels = {{kernel, 1}};
  v.source.emplace(bytes(source));
  return v;
}

// A variant whose kernel may carry a word that a fault of the script looks for.
packs::Variant variant(const std::string &name, const std::string &body) {
  packs::Variant v = of_source("__kernel void fill(__global uint *out) { " + body + " }\n", "fill");
  v.name = name;
  return v;
}

std::string calling(const std::string &word) {
  return "uint " + word + " = 1; out[0] = " + word + ";";
}

// One variant for each way to misbehave, between two that are well.
packs::Contents faulty() {
  packs::Contents base;
  base.programs = {
      {"fill",
       "",
       {variant("a_good", "out[0] = 1;"), variant("b_segv", calling("kiln_test_segv")),
        variant("c_abort", calling("kiln_test_abort")),
        variant("d_exit", calling("kiln_test_exit")), variant("e_hang", calling("kiln_test_hang")),
        variant("f_lie", calling("kiln_test_lie")), variant("g_wrong", "out[0] = undeclared;"),
        variant("h_good", "out[0] = 2;")}}};
  return base;
}

// PoCL, made to misbehave in clBuildProgram where a source has the word for it.
const char *const kScript = R"(
[[platform]]
name = "Scripted platform"
[[platform.device]]
forward = true
name = "Scripted GPU"
[[fault]]
at = "clBuildProgram"
text = "kiln_test_segv"
do = "segv"
[[fault]]
at = "clBuildProgram"
text = "kiln_test_abort"
do = "abort"
[[fault]]
at = "clBuildProgram"
text = "kiln_test_exit"
do = "exit"
[[fault]]
at = "clBuildProgram"
text = "kiln_test_hang"
do = "hang"
[[fault]]
at = "clBuildProgram"
text = "kiln_test_hoard"
do = "hoard"
[[fault]]
at = "clBuildProgram"
text = "kiln_test_lie"
do = "lie"
)";

DeviceInfo device_of(const test::ScriptedDriver &driver) {
  driver.use();
  const auto listed = list_devices();
  if (!listed.ok()) FAIL(listed.status().message);
  return listed->front();
}

DeviceInfo scripted_pocl() {
  static const test::ScriptedDriver driver(kScript);
  return device_of(driver);
}

std::string failure_of(const BuildResult &result, const std::string &variant_name) {
  for (const JobFailure &failure : result.failures) {
    if (failure.job.find("fill/" + variant_name + " for ") == 0) return failure.text;
  }
  return "no failure";
}

std::vector<std::string> report(const BuildResult &result) {
  std::vector<std::string> lines;
  for (const JobFailure &failure : result.failures) {
    lines.push_back(failure.job + ": " + without_paths(failure.text));
  }
  return lines;
}

// The variants of the one target's binaries.
std::vector<packs::Digest> binaries(const BuildResult &result) {
  std::vector<packs::Digest> names;
  REQUIRE(result.contents.targets.size() == 1);
  for (const packs::Binary &binary : result.contents.targets[0].binaries) {
    names.push_back(binary.variant);
  }
  return names;
}

// The calls of an observer as lines, without device and times.
struct LineObserver final : BuildObserver {
  void planned(const PlanCounts &counts, std::size_t workers) override {
    lines.push_back(
        fmt::format("{} jobs, {} to compile, {} workers", counts.jobs, counts.compile, workers));
  }
  void started(const JobLabel &job, std::size_t worker) override {
    lines.push_back(fmt::format("{} started on {}", job.variant, worker));
  }
  void ended(const JobLabel &job, const JobEnd &end) override {
    const bool launched =
        end.binary != nullptr && end.binary->finish.finality == packs::Finality::yes;
    lines.push_back(job.variant + (end.binary == nullptr ? ": failed"
                                   : launched            ? ": final"
                                                         : ": not launched"));
  }
  void still_running(const std::vector<RunningJob> &running) override {
    ++looks;
    for (const RunningJob &one : running) {
      if (one.job.variant == "a_hang") longest = std::max(longest, one.since);
    }
  }

  std::vector<std::string> lines;
  int looks = 0;
  std::chrono::milliseconds longest{0};
};

bool starts_with(const std::string &text, const std::string &start) {
  return text.compare(0, start.size(), start) == 0;
}

}  // namespace

TEST_CASE("a driver that crashes, hangs, exits or lies fails that job by name and no other") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  BuildOptions options;
  options.limits.timeout = std::chrono::seconds(10);
  const BuildResult result = build_on_devices(faulty(), {device}, {}, options, nullptr);
  CHECK(result.compiled == 2);
  CHECK(result.contents.targets.size() == 1);
  CHECK(result.failures.size() == 6);
  CHECK(starts_with(failure_of(result, "b_segv"), "crashed with signal 11"));
  CHECK(starts_with(failure_of(result, "c_abort"), "crashed with signal 6"));
  CHECK(starts_with(failure_of(result, "d_exit"), "the driver ended the process with code 1"));
  CHECK(starts_with(failure_of(result, "e_hang"), "gave no answer in time and was killed"));
  CHECK(starts_with(failure_of(result, "f_lie"),
                    "clBuildProgram reported success, but the build status is"));
  CHECK(failure_of(result, "g_wrong").find("undeclared") != std::string::npos);

  options.jobs = 4;
  const BuildResult beside = build_on_devices(faulty(), {device}, {}, options, nullptr);
  CHECK(report(beside) == report(result));
  CHECK(binaries(beside) == binaries(result));
  CHECK(binaries(beside) == std::vector<packs::Digest>{faulty().programs[0].variants.front().hash,
                                                       faulty().programs[0].variants.back().hash});
}

TEST_CASE("a driver that acts as an absent device fails only the jobs in which it misbehaves") {
  KILN_NEEDS_POCL();
  scripted_pocl();  // sets the environment, which the other process inherits
  const auto posed = posing_device({"test:gpu", "gpu", "virtual-test 1",
                                    [](std::vector<std::string> arguments, const std::string &) {
                                      ProcessRequest request;
                                      request.program = KILN_EXECUTABLE;
                                      request.arguments = std::move(arguments);
                                      return request;
                                    },
                                    ""});
  REQUIRE(posed.ok());
  BuildOptions options;
  options.limits.timeout = std::chrono::seconds(10);
  const BuildResult result = build_on_devices(faulty(), {*posed}, {}, options, nullptr);
  CHECK(result.compiled == 2);
  CHECK(result.failures.size() == 6);
  CHECK(starts_with(failure_of(result, "b_segv"), "crashed with signal 11"));
  CHECK(starts_with(failure_of(result, "d_exit"), "the driver ended the process with code 1"));
  CHECK(starts_with(failure_of(result, "e_hang"), "gave no answer in time and was killed"));
  CHECK(starts_with(failure_of(result, "f_lie"),
                    "clBuildProgram reported success, but the build status is"));
  CHECK(failure_of(result, "g_wrong").find("undeclared") != std::string::npos);
  CHECK(binaries(result) == std::vector<packs::Digest>{faulty().programs[0].variants.front().hash,
                                                       faulty().programs[0].variants.back().hash});
  for (const packs::Binary &binary : result.contents.targets[0].binaries) {
    CHECK(starts_with(binary.finish.finisher, "virtual-test 1 as gpu"));
    CHECK(binary.finish.finality == packs::Finality::not_launched);
    CHECK(binary.finish.why_not == "loaded by its driver without hardware");
  }
}

TEST_CASE("a job that hangs holds up none of those beside it, and is the one that is named") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  packs::Contents base;
  base.programs = {{"fill",
                    "",
                    {variant("a_hang", calling("kiln_test_hang")), variant("b_good", "out[0] = 1;"),
                     variant("c_good", "out[0] = 2;")}}};
  BuildOptions options;
  options.limits.timeout = std::chrono::seconds(10);
  options.jobs = 2;
  LineObserver observed;
  const BuildResult result = build_on_devices(base, {device}, {}, options, &observed);
  CHECK(result.compiled == 2);
  CHECK(observed.lines == std::vector<std::string>{"3 jobs, 3 to compile, 2 workers",
                                                   "a_hang started on 0", "b_good started on 1",
                                                   "b_good: not launched", "c_good started on 1",
                                                   "c_good: not launched", "a_hang: failed"});
  CHECK(observed.looks >= 8);  // one a second
  CHECK(observed.longest > std::chrono::seconds(8));
}

TEST_CASE("a driver that takes all memory fails its job, and the next one is well") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  packs::Contents base;
  base.programs = {
      {"fill",
       "",
       {variant("a_good", "out[0] = 1;"), variant("b_hoard", calling("kiln_test_hoard")),
        variant("c_good", "out[0] = 2;")}}};
  BuildOptions options;
  options.limits.memory = std::uint64_t{2} << 30;
  const BuildResult result = build_on_devices(base, {device}, {}, options, nullptr);
  CHECK(result.compiled == 2);
  REQUIRE(result.failures.size() == 1);
  CHECK(starts_with(failure_of(result, "b_hoard"), "took more memory than it may and was killed"));
}

TEST_CASE("targets of an earlier pack that were not built now are kept where still of use") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  const packs::Variant good = variant("a_good", "out[0] = 1;");
  packs::Contents base;
  base.programs = {{"fill", "", {good}}};
  packs::Target other;
  other.key = "name=another device\n";
  other.binaries.push_back({good.hash, packs::BlobSource(bytes("theirs")), "", {}});
  other.binaries.push_back(
      {variant("gone", "out[0] = 9;").hash, packs::BlobSource(bytes("stale")), "", {}});
  packs::Contents earlier;
  earlier.targets = {other};
  const BuildResult result = build_on_devices(base, {device}, earlier, {}, nullptr);
  REQUIRE(result.contents.targets.size() == 2);
  CHECK(result.contents.targets[1].key == other.key);
  REQUIRE(result.contents.targets[1].binaries.size() == 1);
  CHECK(result.contents.targets[1].binaries[0].variant == good.hash);
}

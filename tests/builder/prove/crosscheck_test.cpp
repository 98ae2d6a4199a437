// SPDX-License-Identifier: Apache-2.0
// A scripted driver given binaries that claim to be other targets', and that make it misbehave.
#include "builder/prove/crosscheck.hpp"

#include <algorithm>
#include <iostream>
#include <map>

#include "builder/compile/base_pack.hpp"
#include "builder/device/opened_device.hpp"
#include "builder/jobs/device_build.hpp"
#include "kiln/packs/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/pocl.hpp"
#include "tests/support/scripted_driver.hpp"

using namespace kiln;
using namespace kiln::builder;
using packs::CrossResult;

namespace {

constexpr char kMachine[] =
    "[[platform]]\nname = \"Scripted platform\"\n"
    "[[platform.device]]\nforward = true\nname = \"Scripted GPU\"\n";
constexpr const char *kFaults[] = {"recompile", "segv", "abort", "exit", "hang", "error", "skip"};

// The driver as it meets the binaries: each fault in clCreateProgramWithBinary, an error code in
// clBuildProgram, and launches that do nothing, for binaries of a source with its word.
std::string misbehaving() {
  std::string script = kMachine;
  for (const std::string fault : kFaults) {
    const char *const at = fault == "error"  ? "clBuildProgram"
                           : fault == "skip" ? "clEnqueueNDRangeKernel"
                                             : "clCreateProgramWithBinary";
    script += std::string("[[fault]]\nat = \"") + at + "\"\ndo = \"" + fault +
              "\"\ntext = \"kiln_" + fault + "\"\n";
  }
  return script;
}

packs::Variant variant(const std::string &name, const std::string &kernel) {
  packs::Variant v;
  v.name = name;
  const std::string source =
      "__kernel void " + kernel + "(__global uint *out) { out[0] = 1; } /* kiln_" + name + " */\n";
  v.hash = kiln::packs::variant_hash(source, "", {kernel});
  v.kernels = {{kernel, 1}};
  v.source.emplace(packs::Bytes{source.begin(), source.end()});
  return v;
}

const test::ScriptedDriver &driver() {
  static const test::ScriptedDriver made(kMachine);
  return made;
}

DeviceInfo scripted_pocl() {
  driver().use();
  const auto listed = list_devices();
  if (!listed.ok()) FAIL(listed.status().message);
  return listed->front();
}

// Two variants with the driver's own binaries of them, and binaries of the first one that make
// it misbehave.
struct Workshop {
  explicit Workshop(const DeviceInfo &info) : device(info) {
    contents.programs = {{"p", "", {variant("one", "fill"), variant("two", "copy")}}};
    packs::Contents all = contents;
    for (const char *const fault : kFaults) {
      all.programs[0].variants.push_back(variant(fault, "fill"));
    }
    driver().rewrite(kMachine);
    const BuildResult built = build_on_devices(all, {device}, {}, {}, nullptr);
    driver().rewrite(misbehaving());
    REQUIRE(built.compiled == all.programs[0].variants.size());
    for (const packs::Variant &v : all.programs[0].variants) {
      const auto &binaries = built.contents.targets[0].binaries;
      const auto found = std::find_if(binaries.begin(), binaries.end(),
                                      [&](const auto &b) { return b.variant == v.hash; });
      REQUIRE(found->blob.read(&bytes[v.name]).ok());
    }
  }

  packs::Binary own(std::size_t which) const {
    return given(which, bytes.at(contents.programs[0].variants[which].name));
  }
  // A binary of the first variant over which the driver does that.
  packs::Binary deadly(const std::string &fault) const { return given(0, bytes.at(fault)); }
  packs::Binary given(std::size_t which, packs::Bytes raw) const {
    return {contents.programs[0].variants[which].hash, packs::BlobSource(std::move(raw)), "", {}};
  }
  void add_target(const std::string &name, std::vector<packs::Binary> binaries,
                  std::string profile = {}) {
    packs::Target target;
    if (profile.empty()) profile = device.description.profile;
    target.key = "profile=" + profile + "\nname=" + name + "\n";
    target.profile = profile;
    target.binaries = std::move(binaries);
    contents.targets.push_back(std::move(target));
  }
  std::vector<CrossCheckOutcome> outcomes(bool all = false) const {
    CrossCheckOptions options;
    options.timeout = std::chrono::seconds(5);
    options.all = all;
    std::vector<CrossCheckOutcome> result;
    const packs::Status status =
        cross_check(contents, "", {device, device}, options, nullptr, &result);
    INFO(status.message);
    REQUIRE(status.ok());
    return result;
  }

  DeviceInfo device;
  packs::Contents contents;
  std::map<std::string, packs::Bytes> bytes;  // by variant
};

bool starts_with(const std::string &text, const std::string &start) {
  return text.compare(0, start.size(), start) == 0;
}

}  // namespace

TEST_CASE("every way in which a driver takes a foreign binary is told apart") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  Workshop shop(device);
  struct Expected {
    CrossResult result;
    const char *reason;
  };
  const auto add = [&](const packs::Binary &binary) { shop.add_target("x", {binary}); };
  add(shop.own(0));
  add(shop.deadly("recompile"));
  add(shop.given(0, packs::Bytes(1000, 1)));
  add(shop.given(0, {}));
  add(shop.deadly("segv"));
  add(shop.deadly("abort"));
  add(shop.deadly("exit"));
  add(shop.deadly("hang"));
  add(shop.given(0, shop.bytes["two"]));
  add(shop.deadly("error"));
  const Expected expected[] = {
      {CrossResult::native, ""},
      {CrossResult::recompiled, "the driver's binary afterwards is another"},
      {CrossResult::refused, "clCreateProgramWithBinary returned CL_INVALID_BINARY"},
      {CrossResult::refused, "the pack's blob is empty"},
      {CrossResult::crashed, "crashed with signal 11"},
      {CrossResult::crashed, "crashed with signal 6"},
      {CrossResult::crashed, "the driver ended the process with code 1"},
      {CrossResult::crashed, "gave no answer in time"},
      {CrossResult::wrong, "kernel fill: clCreateKernel"},
      {CrossResult::refused, "clBuildProgram returned "},
  };
  const auto outcomes = shop.outcomes();
  REQUIRE(outcomes.size() == std::size(expected));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    CAPTURE(i, outcomes[i].reason);
    CHECK(outcomes[i].target == i);
    CHECK(outcomes[i].device == 0);  // the second device is the first once more
    CHECK(outcomes[i].binaries == 1);
    CHECK(outcomes[i].result == expected[i].result);
    CHECK(starts_with(outcomes[i].reason, expected[i].reason));
    CHECK(outcomes[i].reason.empty() == (outcomes[i].result == CrossResult::native));
  }
}

TEST_CASE("the worst of a target's binaries counts, and none is tried after a crash") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  Workshop shop(device);
  shop.add_target("x", {shop.deadly("recompile"), shop.own(1)});
  shop.add_target("y", {shop.own(0), shop.given(1, packs::Bytes(1000, 1))});
  shop.add_target("z", {shop.deadly("exit"), shop.own(1)});
  const auto outcomes = shop.outcomes();
  REQUIRE(outcomes.size() == 3);
  CHECK(outcomes[0].result == CrossResult::recompiled);
  CHECK(outcomes[0].binaries == 2);
  CHECK(outcomes[1].result == CrossResult::refused);
  CHECK(outcomes[1].binaries == 2);
  CHECK(outcomes[2].result == CrossResult::crashed);
  CHECK(outcomes[2].binaries == 1);
  const packs::Contents records = records_of(shop.contents, {device}, outcomes);
  REQUIRE(records.cross_checks.size() == 3);
  const std::string key = device.description.key.text();
  const std::string &target = shop.contents.targets[1].key;
  const packs::CrossCheck second{packs::xxh3(key), packs::xxh3(target), 2};
  CHECK(records.cross_checks[1] == second);
}

TEST_CASE(
    "only what can be tried is tried: other keys, the profile, known variants, what the "
    "device can run") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  Workshop shop(device);
  packs::Variant &demanding = shop.contents.programs[0].variants[1];
  demanding.requirements = {"extension:cl_no_such_extension"};
  packs::Binary unknown = shop.own(0);
  unknown.variant = {};
  shop.add_target("exact", {shop.own(0)});
  shop.contents.targets[0].key = device.description.key.text();
  shop.add_target("foreign", {shop.own(0)}, "intel");
  shop.add_target("unknown", {unknown});
  shop.add_target("demanding", {shop.own(1)});
  shop.add_target("empty", {});
  shop.add_target("narrow", {shop.own(0)});
  shop.contents.targets.back().key += "address_bits=32\n";
  CHECK(shop.outcomes().empty());
  const auto all = shop.outcomes(true);
  REQUIRE(all.size() == 1);
  CHECK(all[0].target == 1);
  CHECK(all[0].result == CrossResult::native);
}

TEST_CASE("a binary that is taken natively and computes wrongly is told by its results") {
  KILN_NEEDS_POCL();
  const DeviceInfo device = scripted_pocl();
  Workshop shop(device);
  shop.contents.programs[0].variants[0].arguments = {
      {Role::output, Storage::buffer, 1, "", 0, Type::uint_}};
  shop.add_target("right", {shop.own(0)});
  shop.add_target("wrong", {shop.deadly("skip")});
  // Without a reference or a binary of its own there is nothing to compare with.
  for (const CrossCheckOutcome &outcome : shop.outcomes()) {
    CHECK(outcome.result == CrossResult::native);
  }
  shop.add_target("own", {shop.own(0)});
  shop.contents.targets.back().key = device.description.key.text();
  const auto outcomes = shop.outcomes();
  REQUIRE(outcomes.size() == 2);
  CHECK(outcomes[0].result == CrossResult::native);
  CHECK(outcomes[1].result == CrossResult::wrong);
  CAPTURE(outcomes[1].reason);
  CHECK(starts_with(outcomes[1].reason, "its results are wrong: "));
  CHECK(outcomes[1].reason.find("which the device's own binary gives") != std::string::npos);
}

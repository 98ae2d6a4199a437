#include "plan.hpp"

#include "base_pack.hpp"
#include "build_job.hpp"
#include "catch.hpp"

using namespace kiln;
using builder::DeviceInfo;
using builder::Need;

namespace {

packs::Bytes bytes(const std::string &text) { return {text.begin(), text.end()}; }

packs::Variant variant(const std::string &name, std::vector<std::string> requirements = {}) {
  packs::Variant v;
  v.name = name;
  v.hash = builder::variant_hash("source of " + name, "-cl-std=CL1.2", {name});
  v.requirements = std::move(requirements);
  return v;
}

packs::Contents two_variants() {
  packs::Contents base;
  base.programs = {{"blur", "", {variant("fast", {"images"}), variant("plain")}}};
  return base;
}

DeviceInfo device(const char *driver, bool images) {
  DeviceInfo info;
  info.identity.set(runtime::Field::device_name, "GPU");
  info.identity.set(runtime::Field::driver_version, driver);
  info.description = runtime::describe(info.identity);
  info.capabilities.images = images;
  return info;
}

}  // namespace

TEST_CASE("a plan has a job for each device and variant, with its reason") {
  const auto base = two_variants();
  const std::vector<DeviceInfo> devices = {device("1", true), device("2", false)};
  const auto plan = builder::make_plan(base, devices, {});
  REQUIRE(plan.size() == 4);
  CHECK(plan[0].need == Need::compile);
  CHECK(plan[0].reason == "no binary for this source, these options and this driver yet");
  CHECK(plan[2].need == Need::skip);
  CHECK(plan[2].reason.find("the variant needs") == 0);
  CHECK(plan[3].need == Need::compile);
  CHECK(builder::job_name(base, devices, plan[3]) == "blur/plain for : GPU (driver 2)");
}

TEST_CASE("devices with one binary key are built for once") {
  const auto plan = builder::make_plan(two_variants(), {device("1", true), device("1", true)}, {});
  CHECK(plan.size() == 2);
}

TEST_CASE("a variant that cannot run does not keep its twin, which needs less, from its binary") {
  auto base = two_variants();
  base.programs[0].variants[0].hash = base.programs[0].variants[1].hash;
  const auto plan = builder::make_plan(base, {device("1", false)}, {});
  REQUIRE(plan.size() == 2);
  CHECK(plan[0].need == Need::skip);
  CHECK(plan[1].need == Need::compile);
}

TEST_CASE("a variant equal to another in source, options and kernel is compiled once") {
  auto base = two_variants();
  base.programs[0].variants[0].hash = base.programs[0].variants[1].hash;
  const auto plan = builder::make_plan(base, {device("1", true)}, {});
  CHECK(plan[1].need == Need::skip);
  CHECK(plan[1].reason == "another variant has the same source and options");
}

TEST_CASE("a binary that an earlier pack has is reused, for that driver alone") {
  const auto base = two_variants();
  const DeviceInfo here = device("1", true);
  packs::Target target;
  target.key = runtime::key_text(here.description.key);
  target.binaries.push_back(
      {base.programs[0].variants[1].hash, packs::BlobSource(bytes("binary")), "", {}});
  const auto plan = builder::make_plan(base, {here, device("2", true)}, {target});
  CHECK(plan[0].need == Need::compile);
  CHECK(plan[1].need == Need::reuse);
  CHECK(plan[3].need == Need::compile);
}

TEST_CASE("a variant's hash depends on source, options and kernels, and on where they end") {
  const auto base = builder::variant_hash("ab", "c", {"k"});
  CHECK(base == builder::variant_hash("ab", "c", {"k"}));
  CHECK(base != builder::variant_hash("a", "bc", {"k"}));
  CHECK(base != builder::variant_hash("ab", "c", {"l"}));
  CHECK(base != builder::variant_hash("ab", "d", {"k"}));
}

TEST_CASE("a build log is kept without the driver's temporary files") {
  using builder::without_paths;
  CHECK(without_paths("/tmp/a-1b2/k.cl:3:1: warning: unused") == "<path>:3:1: warning: unused");
  CHECK(without_paths("in file (\"/usr/x y/z\")") == "in file (\"<path> y/z\")");
  CHECK(without_paths("a / b // c /* d */ kernels/e.cl") == "a / b // c /* d */ kernels/e.cl");
  CHECK(without_paths("ends with /") == "ends with /");
  CHECK(without_paths("").empty());
}

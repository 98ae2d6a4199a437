// SPDX-License-Identifier: Apache-2.0
#include "builder/fleet/report/target_use.hpp"

#include <sstream>

#include "builder/machine/device_info.hpp"
#include "kiln/packs/text.hpp"
#include "tests/packs/sample.hpp"
#include "tests/support/identities.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

using nlohmann::json;

Identity nvidia(const char *capability, const char *bits = "64") {
  return make({{Field::platform_name, "NVIDIA CUDA"},
               {Field::device_name, std::string("GPU ") + capability},
               {Field::device_vendor, "NVIDIA Corporation"},
               {Field::device_vendor_id, "0x10de"},
               {Field::device_version, "OpenCL 3.0 CUDA"},
               {Field::address_bits, bits},
               {Field::driver_version, "580.159.04"},
               {Field::compute_capability, capability}});
}

Identity mali(const char *name) {
  return make({{Field::device_name, name},
               {Field::device_vendor, "ARM"},
               {Field::device_version, "OpenCL 3.0 v1.r51p0-00eac0.0123456789abcdef"},
               {Field::driver_version, "3.0"}});
}

packs::Target target_of(const Identity &identity) {
  const runtime::Description described = runtime::describe(identity);
  return {described.key.text(),
          described.profile,
          described.family,
          described.model,
          described.compiler,
          identity.facts(),
          {},
          {}};
}

// As kiln devices --json has it.
json list_of(const std::vector<Identity> &identities) {
  json devices = json::array();
  for (const Identity &identity : identities) {
    devices.push_back({{"identity", builder::to_json(identity)}, {"label", "any"}});
  }
  return {{"schema", 1}, {"devices", devices}};
}

// The devices, and the first fault.
std::vector<builder::FleetDevice> read(const std::string &text, std::string *fault) {
  builder::Fleet fleet;
  std::istringstream in(text);
  const Status status =
      builder::FleetReader(&fleet).add(in, "fleet.json", builder::FleetReader::Kind::inventory);
  REQUIRE(status.ok());
  *fault = fleet.first_faults.empty() ? "" : fleet.first_faults[0];
  builder::complete_rows(&fleet);
  return fleet.devices;
}

std::vector<builder::FleetDevice> devices_of(const json &list) {
  std::string fault;
  const auto devices = read(list.dump(), &fault);
  CHECK(fault.empty());
  return devices;
}

std::string fault_in(const std::string &text) {
  std::string fault;
  read(text, &fault);
  return fault;
}

// "device: reason" of each target, "gone" of one that no device takes.
std::vector<std::string> uses_of(const Contents &contents, const std::vector<Identity> &fleet,
                                 std::vector<std::string> *without = nullptr) {
  const Bytes bytes = written(contents);
  const PackPointer pack = opened(bytes);
  const Contents read = contents_of(pack);
  const auto match = builder::match_inventory(read, devices_of(list_of(fleet)));
  std::vector<std::string> uses(contents.targets.size());
  for (std::size_t i = 0; i < read.targets.size(); ++i) {
    for (std::size_t j = 0; j < contents.targets.size(); ++j) {
      if (contents.targets[j].key != read.targets[i].key) continue;
      uses[j] = match.uses[i].empty() ? "gone" : "";
      for (const auto &use : match.uses[i]) uses[j] += use.device + ": " + use.why + "\n";
    }
  }
  if (without != nullptr) *without = match.without;
  return uses;
}

Contents fleet_pack() {
  Contents contents;
  contents.programs = {{"blur", "", {variant("plain", "kernel void plain() {}")}}};
  for (const char *capability : {"8.0", "8.6", "9.0"}) {
    contents.targets.push_back(target_of(nvidia(capability)));
  }
  contents.targets.push_back(target_of(mali("Mali-G710 r0p0")));
  std::uint32_t seed = 1;
  for (packs::Target &target : contents.targets) {
    target.binaries = {binary(contents.programs[0].variants[0], noise(40, seed++))};
  }
  return contents;
}

}  // namespace

TEST_CASE("an inventory is one list of devices, or an array of lists", "[inventory]") {
  const json first = list_of({nvidia("9.0"), mali("Mali-G710 r0p0")});
  const json second = list_of({nvidia("8.6")});
  CHECK(devices_of(first).size() == 2);
  const auto devices = devices_of(json::array({first, second}));
  REQUIRE(devices.size() == 3);
  CHECK(devices[2].label() == "GPU 8.6 (driver 580.159.04)");
  CHECK(devices[2].described->device.key().text() == target_of(nvidia("8.6")).key);
}

TEST_CASE("a list with a fault names it", "[inventory]") {
  CHECK(fault_in("{") == "fleet.json:1: the JSON is not complete");
  CHECK(fault_in("{}") == "fleet.json:1: it is neither a device nor a report");
  CHECK(fault_in("[1]") == "fleet.json:1: it is neither a device nor a report");
  CHECK(fault_in("[]").empty());
  CHECK(fault_in(list_of({}).dump()).empty());
  CHECK(fault_in(R"({"devices": []})") == "fleet.json:1: expected \"schema\": 1");
  CHECK(fault_in(R"({"schema": 2, "devices": []})") == "fleet.json:1: expected \"schema\": 1");
  json list = list_of({nvidia("9.0"), nvidia("9.0")});
  list["devices"][1]["identity"]["colour"] = "red";
  CHECK(fault_in(list.dump()) ==
        "fleet.json:1: device 1: this version does not know the fact colour");
  list["devices"][0]["identity"]["device_name"] = 7;
  CHECK(fault_in(list.dump()) == "fleet.json:1: device 0: device_name is not a text");
  list["devices"][0] = {{"label", "any"}};
  CHECK(fault_in(list.dump()) == "fleet.json:1: device 0: it has no identity");
  list = list_of({nvidia("9.0"), nvidia("9.0")});
  list["devices"][1] = 5;
  CHECK(fault_in(list.dump()) == "fleet.json:1: device 1: it has no identity");
}

TEST_CASE("a device whose key alone is known takes the target of this key", "[inventory]") {
  const Contents contents = fleet_pack();
  std::string fault;
  const std::string hash = packs::hex64(packs::xxh3(contents.targets[3].key));
  const auto devices = read("{\"key_hash\": \"" + hash + "\"}", &fault);
  const Bytes bytes = written(contents);
  const PackPointer pack = opened(bytes);
  const auto match = builder::match_inventory(contents_of(pack), devices);
  CHECK(fault.empty());
  CHECK(match.without.empty());
}

TEST_CASE("a target with a device's binary key is kept, and others go", "[inventory]") {
  std::vector<std::string> without;
  const auto uses = uses_of(fleet_pack(), {mali("Mali-G710 r0p0"), mali("Mali-G610")}, &without);
  CHECK(uses[0] == "gone");
  CHECK(uses[2] == "gone");
  CHECK(uses[3] == "Mali-G710 r0p0 (driver 3.0): exact match\n");
  CHECK(without == std::vector<std::string>{"Mali-G610 (driver 3.0)"});
}

TEST_CASE("NVIDIA's rule keeps targets, too", "[inventory]") {
  const Contents contents = fleet_pack();
  const auto by_rule = uses_of(contents, {nvidia("8.9")});
  CHECK(by_rule[0] ==
        "GPU 8.9 (driver 580.159.04): NVIDIA's GPUs take code for lower minor compute "
        "capabilities\n");
  CHECK(by_rule[1] == by_rule[0]);
  CHECK(by_rule[2] == "gone");
}

TEST_CASE("a target of another driver version is not kept", "[inventory]") {
  Contents contents = fleet_pack();
  const Identity skylake = neo_22("0x00090000", "22.43.24595");
  const Identity updated = neo_22("0x00090000", "23.1.1");
  contents.targets = {target_of(skylake)};
  std::vector<std::string> without;
  CHECK(uses_of(contents, {updated}, &without)[0] == "gone");
  CHECK(without.size() == 1);
}

TEST_CASE("of targets with PTX the one that a load takes is kept", "[inventory]") {
  Contents contents = fleet_pack();
  for (packs::Target &target : contents.targets) {
    target.intermediates = std::exchange(target.binaries, {});
  }
  contents.targets.pop_back();
  const auto uses = uses_of(contents, {nvidia("12.0")});
  CHECK(uses[0] == "gone");
  CHECK(uses[1] == "gone");
  CHECK(uses[2] == "GPU 12.0 (driver 580.159.04): its driver compiles the PTX\n");
  CHECK(uses_of(contents, {nvidia("7.5")})[0] == "gone");
  CHECK(uses_of(contents, {nvidia("12.0", "32")})[2] == "gone");
  CHECK(uses_of(contents, {mali("Mali-G710 r0p0")})[2] == "gone");
}

TEST_CASE("a name that is no UTF-8 is found again in an inventory", "[inventory]") {
  Contents contents = fleet_pack();
  const Identity odd = mali("Mali-\xff");
  contents.targets.push_back(target_of(odd));
  json list = list_of({odd});
  const std::string printed = list.dump(-1, ' ', false, json::error_handler_t::replace);
  const auto devices = devices_of(json::parse(printed));
  const Bytes bytes = written(contents);
  const PackPointer pack = opened(bytes);
  const Contents read = contents_of(pack);
  const auto match = builder::match_inventory(read, devices);
  CHECK(match.without.empty());
}

TEST_CASE("a pruned pack keeps the records of the devices of the inventory", "[inventory]") {
  Contents contents = fleet_pack();
  contents.tunings = {tuning(contents.targets[3], packs::SizeClass::small, {8, 8, 1}),
                      tuning(contents.targets[0], packs::SizeClass::small, {8, 8, 1}),
                      tuning(target("A100"), packs::SizeClass::small, {8, 8, 1})};
  const Bytes bytes = written(contents);
  const PackPointer pack = opened(bytes);
  const Contents read = contents_of(pack);
  const auto devices = devices_of(list_of({mali("Mali-G710 r0p0"), nvidia("7.5")}));
  const auto match = builder::match_inventory(read, devices);
  const Contents pruned = builder::cut_contents(read, builder::cut_of(read, match, devices));
  CHECK(pruned.programs.size() == 1);
  REQUIRE(pruned.targets.size() == 1);
  CHECK(pruned.targets[0].profile == "mali");
  REQUIRE(pruned.tunings.size() == 2);
  for (const packs::Tuning &row : pruned.tunings) CHECK(row.profile != "test");
}

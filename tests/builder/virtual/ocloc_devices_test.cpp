// SPDX-License-Identifier: Apache-2.0
#include "builder/virtual/ocloc_devices.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::builder;

namespace {

std::string ocloc_devices_table() {
  std::ifstream file(KILN_SOURCE_DIR "/builder/virtual/ocloc_22_43.json");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("a device of the table has the binary key that the driver gives it") {
  const std::string table = ocloc_devices_table();
  const auto key = [&](const char *name) {
    const auto device = ocloc_device_of_table(table, "22.43.24595", name);
    REQUIRE(device);
    return device->info.description.key.text();
  };
  CHECK(key("skl") ==
        "profile=intel\nip_version=0x00090000\ndriver_version=22.43.24595\naddress_bits=64\n");
  CHECK(key("kbl") == key("skl"));
  CHECK(key("bxt") ==
        "profile=intel\nip_version=0x00090000\ndriver_version=22.43.24595\naddress_bits=32\n");
  CHECK(key("dg2") ==
        "profile=intel\nip_version=0x000c0701\ndriver_version=22.43.24595\naddress_bits=64\n");
  CHECK(key("adls") == key("adl-s"));
  CHECK(ocloc_device_of_table(table, "22.43.24595", "adls")->name == "adl-s");
  CHECK(!ocloc_device_of_table(table, "22.43.24595", "nosuch"));
  CHECK(!ocloc_device_of_table(table, "24.35.30872", "skl"));
}

TEST_CASE("every row of the table is a device with extensions, each once") {
  const std::string table = ocloc_devices_table();
  const auto names = ocloc_table_names(table);
  CHECK(names.size() == 16);
  for (const std::string &name : names) {
    CAPTURE(name);
    const auto device = ocloc_device_of_table(table, "22.43.24595", name);
    REQUIRE(device);
    const auto &can = device->info.capabilities;
    CHECK((can.fp16 && can.subgroups && can.compiler && can.max_work_group_size >= 256));
    CHECK(can.images == (name != "pvc"));
    CHECK(can.has_extension("cl_khr_il_program"));
    CHECK(std::adjacent_find(can.extensions.begin(), can.extensions.end()) == can.extensions.end());
  }
}

TEST_CASE("a later ocloc tells the IP version, the extensions and the features of a device") {
  const auto device = ocloc_device_of_query("dg2-g10", "26.27.039122", "Matched ids:\n12.55.8\n",
                                            "cl_khr_icd cl_khr_fp16 cl_khr_integer_dot_product\n",
                                            "__opencl_c_int64:3.0.0 __opencl_c_images:3.0.0");
  REQUIRE(device.ok());
  // As a driver of 24.35 counts: architecture from bit 22, release from bit 14.
  CHECK(device->info.description.key.text() ==
        "profile=intel\nip_version=0x030dc008\ndriver_version=26.27.039122\naddress_bits=64\n");
  CHECK(device->info.description.family == "Xe-HPG");
  const auto &can = device->info.capabilities;
  CHECK((can.images && can.fp16 && can.integer_dot_product && !can.fp64));
  for (const char *ids :
       {"", "Matched ids:\n", "Matched ids:\n12.55\n", "12.55.8 12.56.5", "Error: no device 12"}) {
    CAPTURE(ids);
    CHECK(ocloc_device_of_query("dg2", "26.27", ids, "", "").status().code == Code::bad_input);
  }
}

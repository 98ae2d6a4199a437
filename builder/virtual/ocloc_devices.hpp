// SPDX-License-Identifier: Apache-2.0
// What is known of Intel's GPUs by the names that ocloc has for them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/device/device_info.hpp"

namespace kiln::builder {

struct OclocDevice {
  std::string name;            // as ocloc takes it
  std::uint32_t stepping = 0;  // 0: left to ocloc
  DeviceInfo info;             // without a compiler
};

// Of a table as ocloc_22_43.json is, for the driver of that version: ocloc of that time tells
// nothing of its devices. Nothing for a name that it has not.
std::optional<OclocDevice> ocloc_device_of_table(std::string_view table,
                                                 const std::string &driver_version,
                                                 const std::string &name);
// The names that the table has.
std::vector<std::string> ocloc_table_names(std::string_view table);

// Of what a later ocloc tells: its `ids` ("Matched ids:\n12.55.8\n") and its extensions. Fails with
// Code::bad_input where the first has not exactly one id.
Result<OclocDevice> ocloc_device_of_query(const std::string &name,
                                          const std::string &driver_version, std::string_view ids,
                                          std::string_view extensions, std::string_view features);

}  // namespace kiln::builder

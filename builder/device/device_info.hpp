// SPDX-License-Identifier: Apache-2.0
// A device of this machine, as a value.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "runtime/identity/identity.hpp"
#include "runtime/identity/requirements.hpp"

namespace kiln::runtime {

// What a child process tells of a device's capabilities; the profile follows from the identity.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Capabilities, images, fp16, fp64, subgroups, integer_dot_product,
                                   opencl_3, unified_memory, compiler, address_bits,
                                   compute_capability, max_work_group_size, local_memory,
                                   il_versions, extensions)

}  // namespace kiln::runtime

namespace kiln::builder {

struct DeviceInfo {
  std::size_t index = 0;  // as kiln_device_open takes it
  runtime::Identity identity;
  runtime::Description description;
  runtime::Capabilities capabilities;

  // "Portable Computing Language: pthread-... (driver 3.1)".
  std::string label() const;
};

nlohmann::json to_json(const runtime::Identity &identity);

}  // namespace kiln::builder

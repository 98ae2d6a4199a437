// SPDX-License-Identifier: Apache-2.0
// A device as a value: a device of this machine, or a virtual device.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "builder/machine/virtual_device.hpp"
#include "runtime/identity/identity.hpp"
#include "runtime/identity/requirements.hpp"

namespace kiln::runtime {

// Convert capabilities that a child process sends: every member except the profile, which follows
// from the identity. Members that `in` lacks, which an earlier version wrote, stay as they are.
void to_json(nlohmann::json &out, const Capabilities &capabilities);
void from_json(const nlohmann::json &in, Capabilities &capabilities);

}  // namespace kiln::runtime

namespace kiln::builder {

struct DeviceInfo {
  std::size_t index = 0;  // as for kiln_device_open
  runtime::Identity identity;
  runtime::Description description;
  runtime::Capabilities capabilities;
  std::uint64_t driver_number = 0;  // runtime::driver_number(); 0 for a virtual device
  // Set for a virtual device: makes its binaries. With a compiler, the identity holds the facts
  // that all such devices share, and the capabilities are those that the compiler generates code
  // for.
  std::shared_ptr<const VirtualDevice> virtual_device{};

  // Returns "Portable Computing Language: pthread-... (driver 3.1)"; for a virtual device, its
  // name.
  std::string label() const;
};

// Convert the identity's facts to JSON and back; facts that this version does not know are left
// out.
nlohmann::json to_json(const runtime::Identity &identity);
runtime::Identity identity_from(const nlohmann::json &facts);

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// A device, as a value: one of this machine, or one that is not there.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "builder/device/virtual_device.hpp"
#include "runtime/identity/identity.hpp"
#include "runtime/identity/requirements.hpp"

namespace kiln::runtime {

// Capabilities on their way from a child process: every member but the profile, which follows from
// the identity.
void to_json(nlohmann::json &out, const Capabilities &capabilities);
void from_json(const nlohmann::json &in, Capabilities &capabilities);

}  // namespace kiln::runtime

namespace kiln::builder {

struct DeviceInfo {
  std::size_t index = 0;  // as kiln_device_open takes it
  runtime::Identity identity;
  runtime::Description description;
  runtime::Capabilities capabilities;
  // Of a device that is not there: what makes its binaries. With a compiler the identity is what is
  // known of any such device, and the capabilities are what the compiler makes code for.
  std::shared_ptr<const VirtualDevice> virtual_device{};

  // "Portable Computing Language: pthread-... (driver 3.1)"; of a device that is not there its
  // name.
  std::string label() const;
};

// The identity's facts as JSON, and back; facts that this version does not know are left out.
nlohmann::json to_json(const runtime::Identity &identity);
runtime::Identity identity_from(const nlohmann::json &facts);

}  // namespace kiln::builder

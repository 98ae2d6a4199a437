// SPDX-License-Identifier: Apache-2.0
// A device, as a value: one of this machine, or one that an offline compiler serves.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "builder/device/offline_compiler.hpp"
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
  // Of a device that is not there: what makes its binaries. The identity is what is known of any
  // such device, the capabilities are what the compiler makes code for.
  std::shared_ptr<const OfflineCompiler> offline{};

  // "Portable Computing Language: pthread-... (driver 3.1)"; of a device that is not there the name
  // of its compiler's.
  std::string label() const;
};

nlohmann::json to_json(const runtime::Identity &identity);

}  // namespace kiln::builder

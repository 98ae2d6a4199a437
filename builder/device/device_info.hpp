// SPDX-License-Identifier: Apache-2.0
// A device of this machine, as a value.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

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

  // "Portable Computing Language: pthread-... (driver 3.1)".
  std::string label() const;
};

nlohmann::json to_json(const runtime::Identity &identity);

}  // namespace kiln::builder

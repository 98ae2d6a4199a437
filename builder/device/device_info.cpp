// SPDX-License-Identifier: Apache-2.0
#include "builder/device/device_info.hpp"

#include "runtime/device/device.hpp"

namespace kiln::builder {

using nlohmann::json;
using runtime::Field;

std::string DeviceInfo::label() const {
  return identity.text(Field::platform_name) + ": " +
         runtime::device_label(identity.text(Field::device_name),
                               identity.text(Field::driver_version));
}

json to_json(const runtime::Identity &identity) {
  json facts = json::object();
  for (const auto &[name, value] : identity.facts()) facts[name] = value;
  return facts;
}

}  // namespace kiln::builder

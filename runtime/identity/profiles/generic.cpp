// SPDX-License-Identifier: Apache-2.0
// Devices without a profile of their own, and layers over another driver.
#include "runtime/identity/profiles/profile.hpp"

namespace kiln::runtime::profiles {

// Recognizes layers and portable drivers, which name another vendor's hardware in the device's
// strings.
bool Generic::recognizes(const Identity &identity) {
  return holds(identity, Field::platform_name, "clvk") ||
         holds(identity, Field::platform_name, "ANGLE") ||
         holds(identity, Field::platform_name, "OpenCLOn12") ||
         holds(identity, Field::platform_name, "Clover") ||
         holds(identity, Field::platform_name, "Oclgrind");
}

void Generic::describe(const Identity &identity, Description *out) {
  out->model = identity.text(Field::device_name);
  out->compiler = identity.text(Field::driver_version);
  set_default_key(identity, out);
  add(identity, Field::instruction_set, &out->key);
}

}  // namespace kiln::runtime::profiles

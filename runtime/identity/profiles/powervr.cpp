// SPDX-License-Identifier: Apache-2.0
// Imagination's PowerVR.
#include "runtime/identity/profiles/profile.hpp"

#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime::profiles {

bool PowerVr::recognizes(const Identity &identity) {
  return holds(identity, Field::device_name, "PowerVR") ||
         holds(identity, Field::device_vendor, "Imagination");
}

// It is not known whether the binary is final.
//
// The model is "BXE-4-32" in "PowerVR B-Series BXE-4-32", and "GE8320" in "PowerVR Rogue GE8320".
void PowerVr::describe(const Identity &identity, Description *out) {
  const std::string &name = identity.text(Field::device_name);
  const std::string family = word_after(name, "PowerVR ");
  const std::string model = family.empty() ? family : word_after(name, (family + " ").c_str());
  out->model = model.empty() ? family : model;
  if (!model.empty()) out->family = "PowerVR " + family;
  out->compiler = identity.text(Field::driver_version);
  set_default_key(identity, out);
}

}  // namespace kiln::runtime::profiles

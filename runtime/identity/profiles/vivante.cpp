// SPDX-License-Identifier: Apache-2.0
// Vivante.
#include "runtime/identity/profiles/profile.hpp"

#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime::profiles {

bool Vivante::recognizes(const Identity &identity) {
  return holds(identity, Field::device_name, "Vivante") ||
         holds(identity, Field::device_vendor, "Vivante");
}

// It is not known whether the binary is final.
//
// The model is "GC7000L.6214.0000" in "Vivante OpenCL Device GC7000L.6214.0000": the chip's model,
// revision and customer id. The chip's model gives the family.
void Vivante::describe(const Identity &identity, Description *out) {
  out->model = word_after(identity.text(Field::device_name), "Device ");
  if (!out->model.empty()) out->family = "Vivante " + until(out->model, '.');
  out->compiler = last_word(identity.text(Field::driver_version));
  set_default_key(identity, out);
}

}  // namespace kiln::runtime::profiles

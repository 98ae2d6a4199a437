// SPDX-License-Identifier: Apache-2.0
// AMD's ROCm and older drivers.
#include "runtime/identity/profiles/profile.hpp"

#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime::profiles {

bool Amd::recognizes(const Identity &identity) {
  return holds(identity, Field::device_vendor, "Advanced Micro Devices") ||
         begins(identity, Field::device_name, "gfx");
}

// According to AMD's documentation the binary is a code object, an ELF file of machine code. There
// is no figure for a first launch: never measured on an AMD GPU.
//
// The device name is the code object's target with its features, "gfx908:sramecc+:xnack-", which
// the driver compares; the features are part of the key and not of the model. Older drivers report
// a chip's name instead.
void Amd::describe(const Identity &identity, Description *out) {
  constexpr Field kKey[] = {Field::device_name, Field::platform_version, Field::driver_version};
  const std::string &name = identity.text(Field::device_name);
  out->model = name.substr(0, name.find(':'));
  out->compiler = first_word(identity.text(Field::driver_version));
  // The last two characters are minor and stepping: gfx908 and gfx90a are gfx9.
  if (starts_with(out->model, "gfx") && out->model.size() >= 6) {
    out->family = out->model.substr(0, out->model.size() - 2);
  }
  if (!starts_with(name, "gfx") || !set_key_if_present(identity, kKey, out)) {
    set_default_key(identity, out);
  }
}

}  // namespace kiln::runtime::profiles

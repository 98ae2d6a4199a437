// SPDX-License-Identifier: Apache-2.0
// NVIDIA.
#include "runtime/identity/profiles/profile.hpp"

#include "runtime/identity/requirements.hpp"

namespace kiln::runtime::profiles {
bool Nvidia::recognizes(const Identity &identity) {
  return holds(identity, Field::device_vendor, "NVIDIA") ||
         holds(identity, Field::device_version, " CUDA");
}

// The finished binary is a cubin: code for one compute capability, which every later driver takes
// (measured with one driver; NVIDIA promises the rest). The driver itself gives PTX, which it
// compiles at each load. A driver that reports no compute capability gets a key of names, among
// them the device version because some names were sold with two architectures (GeForce GT 730).
void Nvidia::describe(const Identity &identity, Description *out) {
  constexpr Field kCubinKey[] = {Field::compute_capability};
  constexpr Field kKey[] = {Field::device_name, Field::device_version, Field::driver_version};
  out->model = identity.text(Field::device_name);
  out->compiler = identity.text(Field::driver_version);
  if (parse_compute_capability(identity.text(Field::compute_capability)) != 0) {
    out->finishing = Finishing::linker;
    set_key_if_present(identity, kCubinKey, out);
    return;
  }
  if (!set_key_if_present(identity, kKey, out)) set_default_key(identity, out);
}

}  // namespace kiln::runtime::profiles

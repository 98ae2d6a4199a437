// SPDX-License-Identifier: Apache-2.0
// Qualcomm's Adreno.
#include "runtime/identity/profiles/profile.hpp"

#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime::profiles {
bool Adreno::recognizes(const Identity &identity) {
  return holds(identity, Field::device_name, "Adreno") ||
         holds(identity, Field::device_version, "Adreno") ||
         holds(identity, Field::device_vendor, "QUALCOMM");
}

// It is not known whether the binary is final: Qualcomm's guide calls it executable code and says
// that loading one skips compiling. There is no figure for a first launch: never measured on an
// Adreno.
//
// The model is "750" from "OpenCL 3.0 Adreno(TM) 750". An older driver puts only the vendor in the
// device name, so the device version is read first. The compiler's build is in the driver version,
// or with older drivers in the platform version.
void Adreno::describe(const Identity &identity, Description *out) {
  constexpr char kMark[] = "Adreno(TM) ";
  out->model = word_after(identity.text(Field::device_version), kMark);
  if (out->model.empty()) out->model = word_after(identity.text(Field::device_name), kMark);
  out->compiler = word_after(identity.text(Field::driver_version), "Compiler ");
  if (out->compiler.empty()) {
    out->compiler = word_after(identity.text(Field::platform_version), "Compiler ");
  }
  const std::string &model = out->model;
  if (count_digits(model, 0) == 3) {
    out->family = "Adreno " + model.substr(0, 1) + "xx";
  } else if (!model.empty()) {
    out->family = "Adreno " + model.substr(0, model.find('-'));
  }
  set_default_key(identity, out);
}

}  // namespace kiln::runtime::profiles

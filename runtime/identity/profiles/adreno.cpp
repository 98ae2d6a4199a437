// SPDX-License-Identifier: Apache-2.0
// Qualcomm's Adreno.
#include "runtime/identity/profiles/profile.hpp"

#include "kiln/packs/text.hpp"
#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime::profiles {
namespace {

// Qualcomm's guides contradict each other: revision A, 5.7.3, says "newer compilers generally
// support older binaries, but the GPU must be the same", and revision C, 5.7.4, does not guarantee
// it. Never measured on an Adreno.
VendorRule accepts_of_older_compiler(std::string_view, const Facts &key,
                                     const Description &device) {
  const Facts &own = device.key.facts();
  for (const char *fact : {"profile", "model", "address_bits"}) {
    if (!both_have(key, own, fact)) return {};
  }
  const std::string *made_by = find_fact(key, "compiler");
  if (made_by == nullptr || device.compiler.empty() ||
      packs::compare_versions(*made_by, device.compiler) > 0) {
    return {};
  }
  return {"a newer Adreno driver may take what an older one made for the same GPU", true};
}

}  // namespace

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
  out->accepts_binary_of = accepts_of_older_compiler;
  set_default_key(identity, out);
}

}  // namespace kiln::runtime::profiles

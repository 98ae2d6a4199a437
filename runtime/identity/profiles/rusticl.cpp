// SPDX-License-Identifier: Apache-2.0
// Mesa's rusticl.
#include "runtime/identity/profiles/profile.hpp"

#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime::profiles {

namespace {

// radeonsi's name ends in the version of the kernel's driver and in the kernel's release,
// "... LLVM 19.1.7, DRM 3.49, 6.18.44)", on which no compiled code depends.
std::string without_kernel(const std::string &name) {
  const std::size_t at = name.find(", DRM ");
  return at == std::string::npos ? name : name.substr(0, at) + ")";
}

}  // namespace

bool Rusticl::recognizes(const Identity &identity) {
  return equals(identity, Field::platform_name, "rusticl");
}

// The device name, "llvmpipe (LLVM 15.0.6, 256 bits)" or "AMD Radeon RX 6600 (radeonsi, navi23,
// LLVM ...)", is a model, then the Gallium driver or its compiler.
void Rusticl::describe(const Identity &identity, Description *out) {
  const std::string &name = identity.text(Field::device_name);
  const std::size_t bracket = name.find(" (");
  out->model = name.substr(0, bracket);
  if (bracket != std::string::npos) {
    const std::string driver = until(until(name.substr(bracket + 2), ','), ')');
    out->family = starts_with(driver, "LLVM") ? out->model : driver;
    const std::string llvm = until(until(word_after(name, "LLVM "), ','), ')');
    if (!llvm.empty()) out->compiler = "LLVM " + llvm;
  }
  out->finishing = Finishing::shader_cache;  // measured with three versions, on llvmpipe
  Identity lasting = identity;
  if (identity[Field::device_name]) lasting.set(Field::device_name, without_kernel(name));
  set_default_key(lasting, out);
}

}  // namespace kiln::runtime::profiles

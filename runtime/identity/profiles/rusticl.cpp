// SPDX-License-Identifier: Apache-2.0
// Mesa's rusticl.
#include "runtime/identity/profiles/profile.hpp"

#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime::profiles {

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
  set_default_key(identity, out);
}

}  // namespace kiln::runtime::profiles

// SPDX-License-Identifier: Apache-2.0
// Mesa's rusticl.
#include "runtime/identity/profiles/profile.hpp"

#include <utility>

#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime::profiles {

namespace {

// radeonsi's name, "AMD Radeon RX 6600 (radeonsi, navi23, LLVM 19.1.7, DRM 3.49, 6.18.44)", begins
// with a product's name, or with the processor's if the GPU is in one, and ends in the version of
// the kernel's driver and in the kernel's release. Compiled code depends on neither: Mesa's own
// cache is that of the chip.
std::string without_product_and_kernel(const std::string &name) {
  const std::size_t begin = name.find("(radeonsi, ");
  if (begin == std::string::npos) return name;
  const std::size_t end = name.find(", DRM ", begin);
  return end == std::string::npos ? name.substr(begin) : name.substr(begin, end - begin) + ")";
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
  const std::string lasting = without_product_and_kernel(name);
  if (lasting == name) return set_default_key(identity, out);
  Identity chip = identity;
  chip.set(Field::device_name, lasting);
  const std::string model = std::exchange(out->model, lasting);  // no part of the key
  set_default_key(chip, out);
  out->model = model;
}

}  // namespace kiln::runtime::profiles

// SPDX-License-Identifier: Apache-2.0
// Portable Computing Language.
#include "runtime/identity/profiles/profile.hpp"

#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime::profiles {

bool Pocl::recognizes(const Identity &identity) {
  return equals(identity, Field::platform_name, "Portable Computing Language") ||
         holds(identity, Field::device_version, "PoCL");
}

// The device version "... HSTR: pthread-x86_64-pc-linux-gnu-skylake-avx512" names the device, the
// target's triple and the processor. Only the platform version names LLVM. The device name and
// the instruction set are in the key, although PoCL's own rule is the HSTR, which may be that of
// the machine that PoCL was built on: code for instructions that a processor lacks, or that its
// virtual machine hides, stops at the first of them.
void Pocl::describe(const Identity &identity, Description *out) {
  constexpr int kDashesBeforeProcessor = 5;
  const std::string target = word_after(identity.text(Field::device_version), "HSTR: ");
  std::size_t begin = 0;
  std::size_t architecture = 0;
  for (int i = 0; i < kDashesBeforeProcessor; ++i) {
    const std::size_t dash = target.find('-', begin);
    begin = dash == std::string::npos ? 0 : dash + 1;
    if (begin == 0) break;
    if (i == 0) architecture = begin;
  }
  out->model = target.substr(begin);
  if (begin != 0) {
    out->family =
        "PoCL " + target.substr(architecture, target.find('-', architecture) - architecture);
  }
  const std::string llvm = until(word_after(identity.text(Field::platform_version), "LLVM "), ',');
  if (!llvm.empty()) out->compiler = "LLVM " + llvm;
  out->finishing = Finishing::launches;  // measured with three versions
  set_default_key(identity, out);
  add(identity, Field::instruction_set, &out->key);
}

}  // namespace kiln::runtime::profiles

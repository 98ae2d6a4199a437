// SPDX-License-Identifier: Apache-2.0
// Apple.
#include "runtime/identity/profiles/profile.hpp"

#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime::profiles {

bool Apple::recognizes(const Identity &identity) {
  return equals(identity, Field::platform_name, "Apple") ||
         begins(identity, Field::device_name, "Apple M");
}

// It is not known whether the binary is final.
//
// The compiler belongs to the system, and only the platform version names its build: "OpenCL 1.2
// (Aug 30 2022 21:57:34)".
void Apple::describe(const Identity &identity, Description *out) {
  constexpr Field kKey[] = {Field::device_name, Field::device_vendor_id, Field::platform_version,
                            Field::driver_version};
  const std::string &platform = identity.text(Field::platform_version);
  const std::string &name = identity.text(Field::device_name);
  const std::size_t bracket = platform.find('(');
  out->model = name;
  if (bracket != std::string::npos) out->compiler = until(platform.substr(bracket + 1), ')');
  const std::string chip = word_after(name, "Apple ");
  if (!chip.empty()) out->family = "Apple " + chip;
  if (!set_key_if_present(identity, kKey, out)) set_default_key(identity, out);
}

}  // namespace kiln::runtime::profiles

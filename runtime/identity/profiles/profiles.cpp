// SPDX-License-Identifier: Apache-2.0
// The profiles in their order, and their common functions.
#include "runtime/identity/profiles/profile.hpp"

#include <algorithm>

#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime {
namespace profiles {

bool holds(const Identity &identity, Field field, const char *text) {
  return contains_ignoring_case(identity.text(field), text);
}

bool equals(const Identity &identity, Field field, const char *text) {
  return equals_ignoring_case(identity.text(field), text);
}

bool begins(const Identity &identity, Field field, const char *text) {
  return starts_with(identity.text(field), text);
}

void add(const Identity &identity, Field field, BinaryKey *key) {
  if (identity[field]) key->add(field_name(field), *identity[field]);
}

void add_part(const char *name, const std::string &value, BinaryKey *key) {
  if (!value.empty()) key->add(name, value);
}

void set_default_key(const Identity &identity, Description *out) {
  if (out->model != identity.text(Field::device_name)) {
    add_part("model", out->model, &out->key);
  }
  if (out->compiler != identity.text(Field::driver_version)) {
    add_part("compiler", out->compiler, &out->key);
  }
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const Field field = static_cast<Field>(i);
    if (field == Field::device_uuid || field == Field::instruction_set) continue;
    add(identity, field, &out->key);
  }
}

namespace {

template <typename Profile>
void fill(const Identity &identity, Description *out) {
  out->profile = Profile::kName;
  out->key.add("profile", Profile::kName);
  Profile::describe(identity, out);
}

template <typename Profile>
bool fill_if_recognized(const Identity &identity, Description *out) {
  if (!Profile::recognizes(identity)) return false;
  fill<Profile>(identity, out);
  return true;
}

template <typename... Profiles>
struct Rules {
  // The first that recognizes the identity decides.
  static void fill_first(const Identity &identity, Description *out) {
    if (!(fill_if_recognized<Profiles>(identity, out) || ...)) fill<Generic>(identity, out);
  }
  static std::vector<std::string> names() { return {Profiles::kName...}; }
};

// Layers and portable drivers come first: they name another vendor's hardware in the device's
// strings (PoCL on an AMD processor reports Intel's vendor id). Vendor ids decide nothing:
// rusticl's may be 0, Mali's is the GPU id.
using AllRules =
    Rules<Generic, Pocl, Rusticl, Apple, Adreno, Mali, PowerVr, Vivante, Nvidia, Amd, Intel>;

}  // namespace
}  // namespace profiles

Description describe(const Identity &identity) {
  Description result;
  profiles::AllRules::fill_first(identity, &result);
  return result;
}

std::vector<std::string> profile_names() {
  std::vector<std::string> names = profiles::AllRules::names();
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace kiln::runtime

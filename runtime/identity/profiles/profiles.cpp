// SPDX-License-Identifier: Apache-2.0
// The profiles in their order, and what they share.
#include "runtime/identity/profiles/profile.hpp"

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
    if (field != Field::device_uuid) add(identity, field, &out->key);
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

// The first that recognizes the identity decides.
template <typename... Profiles>
void fill_first(const Identity &identity, Description *out) {
  if (!(fill_if_recognized<Profiles>(identity, out) || ...)) fill<Generic>(identity, out);
}

}  // namespace
}  // namespace profiles

// Layers and portable drivers come first: they name another vendor's hardware in the device's
// strings (PoCL on an AMD processor reports Intel's vendor id). Vendor ids decide nothing:
// rusticl's may be 0, Mali's is the GPU id.
Description describe(const Identity &identity) {
  using namespace profiles;
  Description result;
  fill_first<Generic, Pocl, Rusticl, Apple, Adreno, Mali, PowerVr, Vivante, Nvidia, Amd, Intel>(
      identity, &result);
  return result;
}

}  // namespace kiln::runtime

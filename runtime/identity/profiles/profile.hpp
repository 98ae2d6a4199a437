// SPDX-License-Identifier: Apache-2.0
// Vendor profiles: how a driver family is recognized, and how model, compiler and binary key are
// extracted from its strings. Each family has one type and one file; profiles.cpp has their order.
//
// Unless a profile knows the driver's own rule, the key is every identity string except
// device_uuid. device_uuid is left out because it names one board across the versions of its
// driver, so that nothing built for it would serve another board. Drivers do not agree on it
// either: NEO 22.43 and 24.35 number one GPU differently, two different Mali-G610 report the same,
// llvmpipe's is Mesa's version. driver_uuid is kept: it names the driver's build (NEO's is the
// driver version in ASCII) or is a constant (llvmpipe).
#pragma once

#include <cstddef>
#include <string>

#include "runtime/identity/identity.hpp"

namespace kiln::runtime::profiles {

// Compare a fact with a text, without regard to case (except begins()).
bool holds(const Identity &identity, Field field, const char *text);
bool equals(const Identity &identity, Field field, const char *text);
bool begins(const Identity &identity, Field field, const char *text);

// add() appends the fact if it is present, add_part() the part if it is not empty.
void add(const Identity &identity, Field field, BinaryKey *key);
void add_part(const char *name, const std::string &value, BinaryKey *key);

// Sets the key that is safe for any driver whose compiler does not ask for the processor's
// instructions. If `model` and `compiler` are parts of longer strings,
// the key repeats them so that an explanation can say what differs.
void set_default_key(const Identity &identity, Description *out);

// Sets the key to these facts and the address bits; false if the driver lacks one of the facts.
template <std::size_t kCount>
bool set_key_if_present(const Identity &identity, const Field (&fields)[kCount], Description *out) {
  for (const Field field : fields) {
    if (identity.text(field).empty()) return false;
  }
  for (const Field field : fields) add(identity, field, &out->key);
  add(identity, Field::address_bits, &out->key);
  return true;
}

// describe() fills everything but `profile` and the key's first pair. Tables in these files hold
// their texts and not pointers to texts: each pointer would cost the shared library three more
// words for its relocation.
struct Generic {
  static constexpr char kName[] = "generic";
  static bool recognizes(const Identity &identity);
  static void describe(const Identity &identity, Description *out);
};
struct Pocl {
  static constexpr char kName[] = "pocl";
  static bool recognizes(const Identity &identity);
  static void describe(const Identity &identity, Description *out);
};
struct Rusticl {
  static constexpr char kName[] = "rusticl";
  static bool recognizes(const Identity &identity);
  static void describe(const Identity &identity, Description *out);
};
struct Apple {
  static constexpr char kName[] = "apple";
  static bool recognizes(const Identity &identity);
  static void describe(const Identity &identity, Description *out);
};
struct Adreno {
  static constexpr char kName[] = "adreno";
  static bool recognizes(const Identity &identity);
  static void describe(const Identity &identity, Description *out);
};
struct Mali {
  static constexpr char kName[] = "mali";
  static bool recognizes(const Identity &identity);
  static void describe(const Identity &identity, Description *out);
};
struct PowerVr {
  static constexpr char kName[] = "powervr";
  static bool recognizes(const Identity &identity);
  static void describe(const Identity &identity, Description *out);
};
struct Vivante {
  static constexpr char kName[] = "vivante";
  static bool recognizes(const Identity &identity);
  static void describe(const Identity &identity, Description *out);
};
struct Nvidia {
  static constexpr char kName[] = "nvidia";
  static bool recognizes(const Identity &identity);
  static void describe(const Identity &identity, Description *out);
};
struct Amd {
  static constexpr char kName[] = "amd";
  static bool recognizes(const Identity &identity);
  static void describe(const Identity &identity, Description *out);
};
struct Intel {
  static constexpr char kName[] = "intel";
  static bool recognizes(const Identity &identity);
  static void describe(const Identity &identity, Description *out);
};

}  // namespace kiln::runtime::profiles

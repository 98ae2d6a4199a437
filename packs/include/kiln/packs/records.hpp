// SPDX-License-Identifier: Apache-2.0
// What a pack records of measurements: cross-checks and tunings. Pure look-ups in the root
// by binary search; they allocate nothing. Views and pointers live as long as the pack.
#pragma once

#include <cstdint>
#include <string_view>

#include "kiln/packs/format.hpp"
#include "pack_generated.h"

namespace kiln::packs {

// How the device with the first key hash took binaries of the target with the second, or null
// where nobody tried. A key hash is the XXH3-64 of the key's canonical text.
const fb::CrossCheck *find_cross_check(const fb::Root &root, std::uint64_t device_key_hash,
                                       std::uint64_t target_key_hash);

// Only a record that says native supports giving the binary to the driver.
inline bool is_native(const fb::CrossCheck &check) {
  return check.result() == static_cast<std::uint32_t>(CrossResult::native);
}

// A run of elements of a vector of the root: `first` is the index of the first.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// Every record of that device in Root::cross_checks; a count of 0 where there is none, or no
// such vector.
Range cross_checks_of(const fb::Root &root, std::uint64_t device_key_hash);

struct TuningQuery {
  std::string_view program;
  std::string_view variant;
  std::string_view kernel;
  SizeClass size_class = SizeClass::small;
};

// The index in Root::texts, or their number where it is not among them: then no row has it.
std::uint32_t find_text(const fb::Root &root, std::string_view text);

// The rows of Root::tunings for that kernel and size class that were measured on devices of
// `profile`; those of the empty profile are the defaults. A count of 0 where there is none, or
// no such vector.
Range find_tunings(const fb::Root &root, const TuningQuery &query, std::string_view profile);

}  // namespace kiln::packs

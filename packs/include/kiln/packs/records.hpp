// SPDX-License-Identifier: Apache-2.0
// What a pack records of measurements: cross-checks and tunings. Look-ups by binary search, which
// read the root alone and allocate nothing.
#pragma once

#include <cstdint>
#include <string_view>

#include "kiln/packs/pack.hpp"

namespace kiln::packs {

// The record of how the device with the first key hash took binaries of the target with the second;
// null if the pack has none. A key hash is the XXH3-64 of the key's canonical text.
CrossCheckRef find_cross_check(const Pack &pack, std::uint64_t device_key_hash,
                               std::uint64_t target_key_hash);

// Consecutive records of the pack.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// Every cross-check of that device.
Range cross_checks_of(const Pack &pack, std::uint64_t device_key_hash);

struct TuningQuery {
  std::string_view program;
  std::string_view variant;
  std::string_view kernel;
  SizeClass size_class = SizeClass::small;
};

// The number by which tunings name a text; a number that no tuning has if they do not name it.
std::uint32_t find_text(const Pack &pack, std::string_view text);
// The text with a number that a tuning has.
std::string_view text_at(const Pack &pack, std::uint32_t number);

// The tunings of that kernel and size class that were measured on devices of `profile`; those of
// the empty profile are the defaults.
Range find_tunings(const Pack &pack, const TuningQuery &query, std::string_view profile);
// A tuning of such a range.
TuningRef tuning_at(const Pack &pack, std::uint32_t index);

}  // namespace kiln::packs

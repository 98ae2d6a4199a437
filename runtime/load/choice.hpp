// SPDX-License-Identifier: Apache-2.0
// Which variant of a program a device gets. Pure; safe from any thread.
#pragma once

#include <string>

#include "kiln/packs/pack.hpp"
#include "runtime/device/device.hpp"
#include "runtime/load/tuning.hpp"
#include "runtime/opencl/error.hpp"

namespace kiln::runtime {

// A variant and why it was taken.
struct Choice {
  packs::VariantRef variant;  // null: none was chosen
  kiln_choice by = KILN_CHOICE_NAME;
  std::string reason;  // a sentence: "first by name"
  // Of a choice by measurement.
  TuningLevel level = TuningLevel::standard;
  packs::SizeClass size_class = packs::SizeClass::large;
  std::uint64_t nanoseconds = 0;
};

// The variant of that name, or with an empty one the best of those whose requirements the device
// meets, for problems of that size class:
//  * the fastest that was measured, and of those within 3% of it the first of Program.preferred.
//  Times of different devices do not compare, so one device's
//    are: of the nearest level at which any was measured, then of the class that was asked for,
//    else the next smaller, else the next larger, the device with the most variants measured,
//    then with the most samples, then the pack's first.
//  * else the first of Program.preferred, else the first by name.
// A variant that requires a proof is chosen where the pack has a proven binary for the device
// alone; by name always. None of `failed`, which no rung could load, is chosen again. `*out` is set
// on success.
Status choose_variant(const packs::Pack &pack, const Device &device, const std::string &program,
                      const std::string &variant, packs::SizeClass wanted,
                      const std::vector<packs::VariantRef> &failed, Choice *out);

const char *size_class_name(packs::SizeClass size_class);

}  // namespace kiln::runtime

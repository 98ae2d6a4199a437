// SPDX-License-Identifier: Apache-2.0
// Comparing one variant with its reference, a function of a library, over many sizes, images and
// parameters.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "builder/machine/device_info.hpp"
#include "builder/run/pack_on_device.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::test {

struct CheckPlan {
  std::uint32_t from = 1;  // widths and heights
  std::uint32_t to = 64;
  bool thin = false;   // a quarter of the pairs of width and height over 16
  bool light = false;  // one kind of image, one local size, the default parameters
};

// Loads the variant and checks it on the device, which it opens with the pack if `opened` is empty;
// to be called in a process that may die. The answer holds "launches", "failed", "mismatches" (the
// first few, in words), "rung" and "seconds", or "skipped" with the reason why it cannot run here.
nlohmann::json check_variant(builder::PackOnDevice *opened, const builder::DeviceInfo &device,
                             const std::string &pack_path, const packs::Program &program,
                             const packs::Variant &variant, const CheckPlan &plan);

}  // namespace kiln::test

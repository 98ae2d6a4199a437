// SPDX-License-Identifier: Apache-2.0
// Variants with the same source, options and kernels: one binary serves them all.
#pragma once

#include <unordered_map>
#include <vector>

#include "builder/build/earlier.hpp"
#include "builder/finish/result_check.hpp"

namespace kiln::builder {

class Twins {
 public:
  // `base` outlives it.
  explicit Twins(const packs::Contents &base);

  // The others of that variant which the device can run and whose reference has a say of its own:
  // they belong to another program, or are launched otherwise. `checks` are the programs'.
  std::vector<Twin> of(const packs::Program &program, const packs::Variant &variant,
                       const DeviceInfo &device, const std::vector<ResultCheck> &checks) const;

 private:
  struct Place {
    std::size_t program;
    const packs::Variant *variant;
  };

  const packs::Contents &base_;
  std::unordered_map<packs::Digest, std::vector<Place>, HashOfDigest> places_;
};

}  // namespace kiln::builder

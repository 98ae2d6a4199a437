// SPDX-License-Identifier: Apache-2.0
// A figure that a compiler gives for a kernel, by the kernel's name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct Figure {
  std::string kernel;  // empty: the compiler did not name it
  packs::StatisticName name;
  std::uint64_t value;
  bool operator==(const Figure &) const = default;
};

using Figures = std::vector<Figure>;

}  // namespace kiln::builder

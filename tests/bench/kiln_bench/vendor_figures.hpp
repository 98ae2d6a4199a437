// SPDX-License-Identifier: Apache-2.0
// The figures that Qualcomm and Arm published for the case studies, for comparison with ours.
#pragma once

#include <string>
#include <vector>

#include "builder/problem/program_shape.hpp"

namespace kiln::builder {

// How much faster than the variant `against` on that device, for that size of the problem.
struct Published {
  double ratio = 0;
  ProblemSize size;
  std::string device;
  std::string against;
  bool operator==(const Published &) const = default;
};

// In the order of the publication's columns; empty if nothing was published.
std::vector<Published> published_ratios(const std::string &program, const std::string &variant);

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
#include "builder/launch/check.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace kiln::builder {
namespace {

constexpr const char *kNames[] = {"unchecked", "exact", "within", "wrong"};

}  // namespace

const char *check_name(Check check) { return kNames[static_cast<std::size_t>(check)]; }

std::optional<Check> check_from_name(std::string_view name) {
  const auto *const found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Check>(found - std::begin(kNames));
}

Check check_outputs(const std::vector<Plane> &outputs, const std::vector<Plane> &expected,
                    double tolerance) {
  if (expected.empty()) return Check::unchecked;
  Check check = Check::exact;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Difference d = difference(outputs[i], expected[i], tolerance);
    if (d.elements != 0) check = std::max(check, d.within ? Check::within : Check::wrong);
  }
  return check;
}

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Compares element by element, within the tolerance that the variant states.
#include "builder/launch/check.hpp"

#include <algorithm>
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

Comparison compare_outputs(const std::vector<Plane> &outputs, const std::vector<Plane> &expected,
                           double tolerance) {
  Comparison result;
  if (expected.empty()) return result;
  result.check = outputs.size() == expected.size() ? Check::exact : Check::wrong;
  for (std::size_t i = 0; i < outputs.size() && i < expected.size(); ++i) {
    const bool comparable = same_shape(outputs[i], expected[i]);
    const Difference d =
        comparable ? difference(outputs[i], expected[i], tolerance) : Difference{1, 0, 0, false};
    if (d.elements == 0) continue;
    if (!d.within && result.check != Check::wrong) result.first_wrong = i;
    result.check = std::max(result.check, d.within ? Check::within : Check::wrong);
    result.different += d.elements;
    result.worst = std::max(result.worst, d.worst);
  }
  return result;
}

}  // namespace kiln::builder

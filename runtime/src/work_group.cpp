#include "work_group.hpp"

#include <algorithm>
#include <limits>

namespace kiln::runtime {
namespace {

constexpr std::size_t kGuess = 64;

// Work-items of a group; the largest number where there are more than that.
std::size_t volume(const Size3 &size) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  std::size_t items = 1;
  for (const std::size_t side : size) {
    if (side != 0 && items > kMost / side) return kMost;
    items *= side;
  }
  return items;
}

// The smallest power of two that is not below `value`.
std::size_t ceil_power_of_two(std::size_t value) {
  std::size_t power = 1;
  while (power < value && power <= std::numeric_limits<std::size_t>::max() / 2) power *= 2;
  return power;
}

Size3 guess(const Size3 &global, const WorkGroupLimits &limits) {
  Size3 local{1, 1, 1};
  local[0] =
      std::min(std::max<std::size_t>(limits.preferred_multiple, 1), ceil_power_of_two(global[0]));
  const std::size_t rows = kGuess / std::min(local[0], kGuess);
  local[1] = std::min(rows, ceil_power_of_two(global[1]));
  return local;
}

}  // namespace

Size3 fit_local_size(const Size3 &global, const Size3 &wanted, const WorkGroupLimits &limits) {
  if (limits.required[0] != 0) {
    return {limits.required[0], std::max<std::size_t>(limits.required[1], 1),
            std::max<std::size_t>(limits.required[2], 1)};
  }
  Size3 local = wanted[0] != 0 ? wanted : guess(global, limits);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t most =
        std::max<std::size_t>(1, std::min(limits.work_item_sizes[i], limits.work_group_size));
    local[i] = std::min(std::max<std::size_t>(local[i], 1), most);
  }
  while (volume(local) > std::max<std::size_t>(limits.work_group_size, 1)) {
    std::size_t &largest = *std::max_element(local.begin(), local.end());
    largest /= 2;
  }
  return local;
}

Size3 pad_global_size(const Size3 &global, const Size3 &local) {
  Size3 padded = global;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t rest = padded[i] % local[i];
    const std::size_t more = rest == 0 ? 0 : local[i] - rest;
    if (padded[i] <= std::numeric_limits<std::size_t>::max() - more) padded[i] += more;
  }
  return padded;
}

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
#include "kernels/block_match/block_match_reference.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace kiln::reference {
namespace {

constexpr std::size_t kBlock = 8;     // pixels along a side
constexpr std::ptrdiff_t kReach = 4;  // displacements are from -kReach to kReach - 1

struct Planes {
  const std::uint8_t *target;
  const std::uint8_t *reference;
  std::size_t width;
  std::size_t height;
};

// The coordinate `position` + `offset`, moved to the nearest one in [0, extent).
std::size_t clamped(std::size_t position, std::ptrdiff_t offset, std::size_t extent) {
  const auto last = static_cast<std::ptrdiff_t>(extent) - 1;
  const auto moved = static_cast<std::ptrdiff_t>(position) + offset;
  return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(moved, 0, last));
}

// The cost of one displacement of the block that starts at (left, top).
template <typename Measure>
std::uint32_t cost_of(const Planes &planes, std::size_t left, std::size_t top, std::ptrdiff_t dx,
                      std::ptrdiff_t dy, Measure measure) {
  std::uint32_t cost = 0;
  for (std::size_t y = top; y < std::min(top + kBlock, planes.height); ++y) {
    const std::uint8_t *row = planes.reference + clamped(y, dy, planes.height) * planes.width;
    for (std::size_t x = left; x < std::min(left + kBlock, planes.width); ++x)
      cost += measure(planes.target[y * planes.width + x], row[clamped(x, dx, planes.width)]);
  }
  return cost;
}

template <typename Measure>
void block_match(const Planes &planes, std::uint32_t *cost, std::uint8_t *vector, Measure measure) {
  for (std::size_t top = 0; top < planes.height; top += kBlock) {
    for (std::size_t left = 0; left < planes.width; left += kBlock) {
      std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
      for (std::ptrdiff_t dy = -kReach; dy < kReach; ++dy) {
        for (std::ptrdiff_t dx = -kReach; dx < kReach; ++dx) {
          const std::uint32_t found = cost_of(planes, left, top, dx, dy, measure);
          if (found >= least) continue;
          least = found;
          vector[0] = static_cast<std::uint8_t>(dx + kReach);
          vector[1] = static_cast<std::uint8_t>(dy + kReach);
        }
      }
      *cost++ = least;
      vector += 2;
    }
  }
}

}  // namespace

void block_match_sad(const std::uint8_t *target, const std::uint8_t *reference, std::uint32_t *cost,
                     std::uint8_t *vector, std::size_t width, std::size_t height) {
  block_match({target, reference, width, height}, cost, vector,
              [](int a, int b) { return static_cast<std::uint32_t>(std::abs(a - b)); });
}

void block_match_ssd(const std::uint8_t *target, const std::uint8_t *reference, std::uint32_t *cost,
                     std::uint8_t *vector, std::size_t width, std::size_t height) {
  block_match({target, reference, width, height}, cost, vector,
              [](int a, int b) { return static_cast<std::uint32_t>((a - b) * (a - b)); });
}

}  // namespace kiln::reference

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "kernels/common/problem.hpp"

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

// Where in `reference` each 8x8 block of `target` fits best. A displacement's cost is the sum of
// `measure` over the block's pixels that are inside the image; `reference` continues beyond its
// edges with its nearest pixel. For each block, row by row, the outputs get the least cost, and dx
// + 4 and dy + 4 in two bytes; of equal costs the first counts, in order of dy, then of dx.
template <typename Measure>
std::int32_t match_blocks(const kiln_reference_call *call, Measure measure) {
  const std::size_t width = call->width, height = call->height;
  const std::size_t columns = (width + 7) / 8, rows = (height + 7) / 8;
  if (!takes(call, {bytes(1, width, height), bytes(1, width, height)},
             {uints(columns, rows), bytes(2, columns, rows)})) {
    return 1;
  }
  const Planes planes{in(call, 0), in(call, 1), width, height};
  auto *cost = out<std::uint32_t>(call, 0);
  auto *vector = out(call, 1);
  for (std::size_t top = 0; top < height; top += kBlock) {
    for (std::size_t left = 0; left < width; left += kBlock) {
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
  return 0;
}

}  // namespace

KILN_REFERENCE_EXPORT std::int32_t block_match_sad(const kiln_reference_call *call) {
  return match_blocks(call,
                      [](int a, int b) { return static_cast<std::uint32_t>(std::abs(a - b)); });
}

KILN_REFERENCE_EXPORT std::int32_t block_match_ssd(const kiln_reference_call *call) {
  return match_blocks(call,
                      [](int a, int b) { return static_cast<std::uint32_t>((a - b) * (a - b)); });
}

}  // namespace kiln::reference

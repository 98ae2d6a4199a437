// SPDX-License-Identifier: Apache-2.0
// Damage of the kinds that disks, networks and careless tools do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace kiln::test {

using Random = std::mt19937;

// A number below `limit`; 0 where that is 0.
inline std::size_t below(Random &random, std::size_t limit) {
  return limit == 0 ? 0 : random() % limit;
}

// Applies one to four random mutations. The result may be empty, and may by chance be what it
// was.
inline void mutate(Random &random, std::vector<std::uint8_t> *bytes) {
  for (std::size_t times = 1 + below(random, 4); times > 0 && !bytes->empty(); --times) {
    // Half of them near the start, where the structure is.
    const std::size_t reach =
        random() % 2 == 0 ? std::min<std::size_t>(bytes->size(), 512) : bytes->size();
    const std::size_t at = below(random, reach);
    const std::size_t length = std::min(1 + below(random, 64), bytes->size() - at);
    const auto begin = bytes->begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = begin + static_cast<std::ptrdiff_t>(length);
    switch (random() % 6) {
      case 0: *begin = static_cast<std::uint8_t>(*begin ^ (1u << (random() % 8))); break;
      case 1: std::fill(begin, end, static_cast<std::uint8_t>(random())); break;
      case 2: std::generate(begin, end, [&] { return static_cast<std::uint8_t>(random()); }); break;
      case 3: bytes->resize(at); break;
      case 4: bytes->erase(begin, end); break;
      default: {
        const std::vector<std::uint8_t> run(begin, end);
        bytes->insert(bytes->begin() + static_cast<std::ptrdiff_t>(below(random, bytes->size())),
                      run.begin(), run.end());
      }
    }
  }
}

}  // namespace kiln::test

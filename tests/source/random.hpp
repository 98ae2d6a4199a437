// SPDX-License-Identifier: Apache-2.0
// Numbers that are the same for a seed on every machine, which the standard's distributions are
// not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kiln::cases {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
  bool chance(std::size_t percent) { return below(100) < percent; }

  template <typename T>
  const T &pick(const std::vector<T> &items) {
    return items[below(items.size())];
  }

 private:
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace kiln::cases

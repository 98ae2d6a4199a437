// SPDX-License-Identifier: Apache-2.0
// The words of SPIR-V, and whether a device takes what a module declares. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "kiln/packs/bytes.hpp"
#include "runtime/identity/requirements.hpp"

namespace kiln::runtime {

// The little-endian words of a module, or of one instruction. Indices are not checked.
class SpirvWords {
 public:
  static constexpr std::uint32_t kMagic = 0x07230203;
  static constexpr std::size_t kHeaderWords = 5;

  explicit SpirvWords(packs::View bytes) : bytes_(bytes) {}

  std::size_t size() const { return bytes_.size / 4; }
  std::uint32_t operator[](std::size_t index) const {
    const std::uint8_t *p = bytes_.data + index * 4;
    return static_cast<std::uint32_t>(p[0]) | static_cast<std::uint32_t>(p[1]) << 8u |
           static_cast<std::uint32_t>(p[2]) << 16u | static_cast<std::uint32_t>(p[3]) << 24u;
  }
  SpirvWords part(std::size_t first, std::size_t count) const {
    return SpirvWords({bytes_.data + first * 4, count * 4});
  }
  // Returns the literal string that starts at a word, and the index of the word after it.
  std::optional<std::pair<std::string_view, std::size_t>> text(std::size_t first) const {
    if (first >= size()) return std::nullopt;
    const std::uint8_t *const begin = bytes_.data + first * 4;
    const std::uint8_t *const last = bytes_.data + bytes_.size;
    const std::uint8_t *const end = std::find(begin, last, std::uint8_t{0});
    if (end == last) return std::nullopt;
    const auto length = static_cast<std::size_t>(end - begin);
    return std::pair{std::string_view(reinterpret_cast<const char *>(begin), length),
                     first + length / 4 + 1};
  }

 private:
  packs::View bytes_;
};

// Compares what a module declares in its first instructions with the device's answers. Fails with
// Code::requirement for the first that the device does not report: "needs the SPIR-V capability
// Groups". Any other bytes need nothing, and nothing is known of a device that does not answer.
packs::Status check_il(packs::View module, const Capabilities &device);

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// Contents with much in common, as binaries of one program for several devices have.
#pragma once

#include "tests/packs/sample.hpp"

namespace kiln::test {

inline Bytes part(const Bytes &bytes, std::size_t from, std::size_t to) {
  return Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(from),
               bytes.begin() + static_cast<std::ptrdiff_t>(to));
}

inline void append(Bytes *to, const Bytes &more) {
  to->insert(to->end(), more.begin(), more.end());
}

// Words in an order of their own: compressible, and unlike each other's orders.
inline Bytes words(std::size_t count, std::uint32_t seed) {
  const Bytes order = noise(count, seed);
  Bytes text;
  for (const std::uint8_t word : order) append(&text, noise(4 + word % 5, word % 40));
  return text;
}

// `variants` of one program with IL, and for each of `targets` a binary of each, which holds the IL
// and code that neighbouring targets share but for a few bytes.
inline Contents alike_sample(unsigned variants, unsigned targets) {
  Contents contents;
  contents.producer = "clang 14";
  packs::Program program{"p", "", {}};
  for (unsigned i = 0; i < variants; ++i) {
    packs::Variant each = variant("v" + std::to_string(i), "kernel void k() {}");
    each.source = packs::BlobSource(words(100, 100 + i));
    const Bytes &text = *each.source->raw();
    each.hash = packs::variant_hash({reinterpret_cast<const char *>(text.data()), text.size()},
                                    each.options, {each.name});
    each.il64 = packs::BlobSource(words(300, 200 + i));
    each.il_version = 0x00010200;
    program.variants.push_back(each);
  }
  for (unsigned t = 0; t < targets; ++t) {
    packs::Target device = target("model " + std::to_string(t));
    for (unsigned i = 0; i < variants; ++i) {
      Bytes bytes = noise(400, 300 + i);  // no IL has it, all targets do
      bytes[t] ^= 1;
      append(&bytes, *program.variants[i].il64->raw());
      device.binaries.push_back(binary(program.variants[i], std::move(bytes)));
    }
    contents.targets.push_back(std::move(device));
  }
  contents.programs = {program};
  return contents;
}

}  // namespace kiln::test

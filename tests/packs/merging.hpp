// SPDX-License-Identifier: Apache-2.0
// For tests: packs merged in every order.
#pragma once

#include "kiln/packs/contents.hpp"
#include "tests/packs/sample.hpp"

namespace kiln::test {

// Merges packs that were written and read, as `kiln pack merge` does.
inline Bytes merged(const std::vector<Bytes> &packs) {
  Contents contents;
  for (const Bytes &bytes : packs) {
    const Status status = merge(contents_of(opened(bytes)), &contents);
    INFO(status.message);
    REQUIRE(status.code == Code::ok);
  }
  return written(contents);
}

// Every order and every grouping of three packs gives these bytes.
inline void check_any_order(const Bytes &a, const Bytes &b, const Bytes &c) {
  const Bytes expected = merged({a, b, c});
  CHECK(merged({a, c, b}) == expected);
  CHECK(merged({b, a, c}) == expected);
  CHECK(merged({b, c, a}) == expected);
  CHECK(merged({c, a, b}) == expected);
  CHECK(merged({c, b, a}) == expected);
  CHECK(merged({merged({a, b}), c}) == expected);
  CHECK(merged({a, merged({b, c})}) == expected);
  CHECK(merged({merged({a, c}), b}) == expected);
  CHECK(merged({merged({c, b}), merged({b, a})}) == expected);
  CHECK(merged({expected, a, b, c, expected}) == expected);
}

}  // namespace kiln::test

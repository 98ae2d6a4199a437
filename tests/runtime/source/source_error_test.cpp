// SPDX-License-Identifier: Apache-2.0
#include "runtime/source/source_error.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::source;

TEST_CASE("A fault shows its line, with a caret under the character") {
  const std::string_view text = "one\n\ttw\xC3\xB6 x\r\nlast";
  const auto error = [&](Position at) { return source_error("f", text, at, "bad", "expected y"); };
  CHECK(error({1, 1}) == "f:1:1: error: bad\none\n^\nexpected y\n");
  CHECK(error({1, 3}) == "f:1:3: error: bad\none\n  ^\nexpected y\n");
  // A tab stays one, a code point of two bytes is one blank, and the line's end goes.
  CHECK(error({2, 4}) == "f:2:4: error: bad\n\ttw\xC3\xB6 x\n\t  ^\nexpected y\n");
  CHECK(error({2, 6}) == "f:2:6: error: bad\n\ttw\xC3\xB6 x\n\t    ^\nexpected y\n");
  // Behind the line, behind the text.
  CHECK(error({3, 99}) == "f:3:99: error: bad\nlast\n    ^\nexpected y\n");
  CHECK(error({4, 2}) == "f:4:2: error: bad\n\n^\nexpected y\n");
  CHECK(source_error("f", text, {1, 1}, "bad", "") == "f:1:1: error: bad\none\n^\n");
  CHECK(file_error("f", "bad") == "f: error: bad\n");
}

TEST_CASE("A position counts lines, and code points in a line, from 1") {
  const std::string_view text =
      "a\n\xC3\xB6\xE2\x82\xAC"
      "b\n";
  const auto at = [&](std::size_t offset) {
    const Position found = position_at(text, offset);
    return std::pair(found.line, found.column);
  };
  using Pair = std::pair<std::size_t, std::size_t>;
  CHECK(at(0) == Pair(1, 1));
  CHECK(at(1) == Pair(1, 2));
  CHECK(at(2) == Pair(2, 1));
  CHECK(at(4) == Pair(2, 2));
  CHECK(at(7) == Pair(2, 3));
  CHECK(at(9) == Pair(3, 1));
  CHECK(at(99) == Pair(3, 1));
}

TEST_CASE("A word in quotes stays on its line") {
  CHECK(in_quotes("") == "\"\"");
  CHECK(in_quotes("a b~\xC3\xB6") == "\"a b~\xC3\xB6\"");
  CHECK(in_quotes(std::string_view("\0\n\x1f\x7f\x80", 5)) == "\"\\x00\\x0a\\x1f\\x7f\x80\"");
}

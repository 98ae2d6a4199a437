// SPDX-License-Identifier: Apache-2.0
#include "builder/bisect/reduce_text.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"

using namespace kiln;
using Lines = std::vector<std::string>;

TEST_CASE("a text has a line for each statement, brace and directive") {
  CHECK(builder::statement_lines(
            "int a; // one\nif (a) { b = \"{;\"; }\nfor (i = 0; i < 3;\n ++i) c();") ==
        Lines{"int a;", "if (a) {", "b = \"{;\";", "}", "for (i = 0; i < 3;  ++i) c();"});
  CHECK(builder::statement_lines("  #define A(x) \\\n  x;\nint b\n#if A\n = 1;\n#endif") ==
        Lines{"#define A(x) \\\n  x;", "int b", "#if A", "= 1;", "#endif"});
  CHECK(builder::statement_lines("/* ; */ char c = ';'; }") == Lines{"char c = ';';", "}"});
  CHECK(builder::statement_lines("").empty());
  CHECK(builder::joined_lines({"void f() {", "if (a) {", "b;", "}", "#endif", "}"}) ==
        "void f() {\n  if (a) {\n    b;\n  }\n#endif\n}\n");
}

TEST_CASE("a text whose braces or conditions are open is not offered to a compiler") {
  CHECK(builder::is_balanced({"void f(int a[3]) {", "g(\")\");", "}"}));
  CHECK(builder::is_balanced({"#if A", "#else", "#endif"}));
  for (const Lines &bad :
       {Lines{"{"}, Lines{"}"}, Lines{"f(];"}, Lines{"#if A"}, Lines{"#endif"}, Lines{"#else"}}) {
    CAPTURE(bad);
    CHECK(!builder::is_balanced(bad));
  }
}

TEST_CASE("blocks go as a whole, or leave what is in them") {
  const Lines text = {"void f() {", "a;", "}", "#if A", "if (b) {", "c;", "}", "#endif"};
  const auto keeps = [](const Lines &wanted) {
    return [wanted](const Lines &lines) {
      return std::all_of(wanted.begin(), wanted.end(), [&](const std::string &line) {
        return std::find(lines.begin(), lines.end(), line) != lines.end();
      });
    };
  };
  CHECK(builder::reduce_blocks(text, keeps({"c;"})) == Lines{"c;"});
  CHECK(builder::reduce_blocks(text, keeps({"c;", "#endif", "}"})) ==
        Lines{"#if A", "if (b) {", "c;", "}", "#endif"});
  CHECK(builder::reduce_blocks(text, keeps({"a;"})) == Lines{"a;"});
  CHECK(builder::reduce_blocks({"{"}, keeps({})) == Lines{"{"});
}

TEST_CASE("reducing leaves the parts without which it does not show, and asks few times") {
  Lines parts;
  for (int i = 0; i < 100; ++i) parts.push_back(std::to_string(i));
  std::size_t asked = 0;
  const auto has = [](const Lines &in, const char *what) {
    return std::find(in.begin(), in.end(), what) != in.end();
  };
  const auto shows = [&](const Lines &in) {
    ++asked;
    return has(in, "17") && has(in, "80");
  };
  CHECK(builder::reduce_parts(parts, 1000, shows) == Lines{"17", "80"});
  CHECK(asked < 60);
  asked = 0;
  CHECK(builder::reduce_parts(parts, 3, shows).size() > 2);
  CHECK(asked == 3);
  CHECK(builder::reduce_parts(parts, 1000, [](const Lines &) { return false; }) == parts);
  CHECK(builder::reduce_parts(parts, 1000, [](const Lines &) { return true; }).empty());
}

// SPDX-License-Identifier: Apache-2.0
#include "runtime/source/include_macros.hpp"

#include "tests/support/catch.hpp"

using kiln::source::IncludeMacros;

namespace {

IncludeMacros options(std::initializer_list<const char *> definitions) {
  IncludeMacros macros;
  for (const char *definition : definitions) macros.define_option(definition);
  return macros;
}

}  // namespace

TEST_CASE("A macro stands for its body, whose macros are expanded in turn") {
  const IncludeMacros macros = options({"A=B/c", "B=\"x\"", "D"});
  CHECK(macros.expand("A") == "\"x\"/c");
  CHECK(macros.expand("Aa + \"A\" + D") == "Aa + \"A\" + 1");
  CHECK(options({"h=x"}).expand("v2.h/2.h/h") == "v2.x/2.h/x");  // 2.h is a number
}

TEST_CASE("# makes a string of the argument, after another macro expanded it") {
  const IncludeMacros macros = options({"X(x)=#x", "M(x)=X(x)", "DIR=/usr/share/a-b"});
  CHECK(macros.expand("M(DIR/inc.h)") == "\"/usr/share/a-b/inc.h\"");
  CHECK(macros.expand("X(DIR/inc.h)") == "\"DIR/inc.h\"");
  CHECK(macros.expand("M ( DIR/inc.h )") == "\"/usr/share/a-b/inc.h\"");
}

TEST_CASE("A function-like macro without parentheses is not certain") {
  CHECK(options({"X(x)=#x"}).expand("X(y)") == "\"y\"");
  CHECK_FALSE(options({"X(x)=#x"}).expand("X + X(y)"));
  CHECK_FALSE(options({"X(x)=#x", "Y=X"}).expand("Y(y)"));
}

TEST_CASE("Several parameters, and arguments with parentheses of their own") {
  IncludeMacros macros;
  macros.define("PAIR( a , b ) <b.a> ");
  CHECK(macros.expand("PAIR(h, f(x,y))") == "<f(x,y).h>");
  CHECK_FALSE(macros.expand("PAIR(h)"));
  CHECK_FALSE(macros.expand("PAIR(h, x"));
}

TEST_CASE("What a compiler alone knows is not guessed") {
  IncludeMacros macros;
  macros.define("A \"a\"");
  macros.define("A  \"a\" ");  // the same again
  CHECK(macros.expand("A") == "\"a\"");
  macros.define("A \"b\"");
  CHECK_FALSE(macros.expand("A"));
  macros.define("B 1");
  macros.undefine("B");
  CHECK_FALSE(macros.expand("B"));
  macros.define("PASTE(a, b) a##b");
  CHECK_FALSE(macros.expand("PASTE(x, y)"));
  for (const char *definition : {"BLANK a b", "COMMENT a//b", "VARIADIC(...) a"}) {
    macros.define(definition);
  }
  for (const char *text :
       {"BLANK", "COMMENT", "VARIADIC(a)", "linux", "__x__", "cl_khr_fp64", "X"}) {
    INFO(text);
    CHECK_FALSE(macros.expand(text));
  }
  macros.define("LOOP LOOP");
  CHECK_FALSE(macros.expand("LOOP"));
}

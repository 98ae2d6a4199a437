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

TEST_CASE("A macro's name begins with any letter or _, and has digits behind") {
  for (const char *name : {"a", "z", "A", "Z", "_", "a0", "z9", "A_Z"}) {
    INFO(name);
    CHECK(options({name}).expand(name) == "1");
    CHECK(options({name}).expand(std::string("/") + name + "/") == "/1/");
  }
  // A word with a small letter that is no system's is left as it is.
  for (const char *word : {"Xa", "Xz", "a", "z", "linuxes"})
    CHECK(options({}).expand(word) == word);
}

TEST_CASE("A number goes on with letters, dots, and a sign behind its exponent") {
  const IncludeMacros macros = options({"h=x"});
  for (const char *number :
       {"0h", "9h", "1.h", ".0.h", ".9.h", "0.h", "9.h", "1e+h", "1E-h", "1p-h", "1P+h"}) {
    INFO(number);
    CHECK(macros.expand(number) == number);
  }
  for (const char *mark : {"1+h", "1-h", "1e/h", "1e*h", "1e=h", ".h", "./h", ".:h", "1/h"}) {
    INFO(mark);
    std::string expected = mark;
    expected.back() = 'x';
    CHECK(macros.expand(mark) == expected);
  }
}

TEST_CASE("A text of macros ends where its view ends") {
  const IncludeMacros macros = options({"f(x)=x"});
  CHECK(macros.expand(std::string_view("f(a)b", 4)) == "a");
  CHECK_FALSE(macros.expand(std::string_view("f(a)b", 3)));
  CHECK_FALSE(macros.expand(std::string_view("f(a)b", 1)));
  CHECK(macros.expand(std::string_view(".0", 1)) == ".");
  IncludeMacros defined;
  defined.define(std::string_view("a(x) 2", 1));
  CHECK(defined.expand("a") == "");
}

TEST_CASE("A chain of macros may be 32 deep, and one more is no result") {
  IncludeMacros macros = options({"m0=x"});
  for (int i = 1; i <= 32; ++i) {
    macros.define("m" + std::to_string(i) + " m" + std::to_string(i - 1));
  }
  CHECK(macros.expand("m31") == "x");
  CHECK_FALSE(macros.expand("m32"));
}

TEST_CASE("An expansion has at most kMaxSteps bytes and words, within and at its end") {
  constexpr std::size_t kMax = IncludeMacros::kMaxSteps;
  const auto word = [](std::size_t size) { return std::string(size, 'x'); };
  const auto of_size = [&](std::size_t size) {
    IncludeMacros macros = options({"e="});
    macros.define("m " + word(size));
    macros.define("f(x) /x");
    return macros;
  };
  // A text, which is one word.
  CHECK(of_size(1).expand(word(kMax)) == word(kMax));
  CHECK_FALSE(of_size(1).expand(word(kMax + 1)));
  // A macro's body, with something and with nothing behind.
  CHECK(of_size(kMax).expand("m") == word(kMax));
  CHECK(of_size(kMax).expand("m e") == std::nullopt);  // the blank is one byte more
  CHECK(of_size(kMax - 1).expand("m/") == word(kMax - 1) + "/");
  CHECK_FALSE(of_size(kMax).expand("m/"));
  CHECK_FALSE(of_size(kMax + 1).expand("m"));
  // An argument.
  CHECK(of_size(kMax - 1).expand("f(m)") == "/" + word(kMax - 1));
  CHECK_FALSE(of_size(kMax).expand("f(m)"));
  // Words: the macro, its body, and each mark.
  CHECK(of_size(1).expand("m" + std::string(kMax - 2, '/')) == "x" + std::string(kMax - 2, '/'));
  CHECK_FALSE(of_size(1).expand("m" + std::string(kMax - 1, '/')));
}

TEST_CASE("A macro of nothing adds nothing to a text that is full") {
  constexpr std::size_t kMax = IncludeMacros::kMaxSteps;
  IncludeMacros macros = options({"f(x)="});
  macros.define("m " + std::string(kMax, 'x'));
  CHECK(macros.expand("m") == std::string(kMax, 'x'));
  macros.define("both mf(a)");
  macros.define("g(a) a/f()");
  macros.define("n " + std::string(kMax - 1, 'x'));
  CHECK(macros.expand("n/f(a)") == std::string(kMax - 1, 'x') + "/");
}

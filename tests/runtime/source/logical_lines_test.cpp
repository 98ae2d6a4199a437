// SPDX-License-Identifier: Apache-2.0
// What a text is divided into, and what is not certain in it.
#include "runtime/source/logical_lines.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::source;

namespace {

// What is doubted first; empty if nothing is.
std::string doubt_of(std::string_view text) {
  const ScannedText scanned = scan(text);
  return scanned.doubt ? scanned.doubt->what : "";
}

std::string code_of(std::string_view text) {
  const ScannedText scanned = scan(text);
  return scanned.lines.empty() ? "" : scanned.lines[0].code;
}

struct Row {
  std::string_view text;
  std::string_view expected;
};

}  // namespace

TEST_CASE("A word has letters, digits and _") {
  for (const char c : std::string("azAZ09_")) CHECK(is_word_character(c));
  for (const char c : std::string("`{@[/:^ \x80")) CHECK_FALSE(is_word_character(c));
  CHECK(first_word("az_AZ09-a") == "az_AZ09");
  CHECK(first_word("-a").empty());
  CHECK(first_word("").empty());
  CHECK(first_word(std::string_view("ab", 1)) == "a");
}

TEST_CASE("A text is trimmed of blanks and tabs, and of nothing else") {
  CHECK(trimmed(" \t a b\t ") == "a b");
  CHECK(trimmed("a") == "a");
  CHECK(trimmed("\n") == "\n");
  CHECK(trimmed(" \t").empty());
  CHECK(trimmed("").empty());
}

TEST_CASE("A directive's code has no comments and no splices") {
  const Row rows[] = {
      {"#define A 1\n", "#define A 1"},
      {"#define A // x/y\n", "#define A  "},
      {"#/* a/b *c */define A\n", "# define A"},
      {"#define A/**/B\n", "#define A B"},
      {"#define A/***/B\n", "#define A B"},
      {"#define A /* x\n y */ B\n", "#define A   B"},
      {"#define A \\\n B\\\r\n C\n", "#define A  B C"},
      {"#define A /* \\x \\\n */ B\n", "#define A   B"},
      {"#define A \"//\" '\"'\n", "#define A \"//\" '\"'"},
      {"#define A \"\\\"//\"\n", "#define A \"\\\"//\""},
      {" \t# A\n", "# A"},
      {"/* a */ # A\n", "# A"},
      {"\f\n", ""},
      {"int a; # A\n", ""},
      {"a/b#c\n", ""},
  };
  for (const auto &[text, code] : rows) {
    INFO(text);
    CHECK(code_of(text) == code);
    CHECK(doubt_of(text).empty());
  }
}

TEST_CASE("Each byte of a directive's code is at its place in the text") {
  const std::string_view text = "a\n /**/#b /* */ c\\\nd\n";
  const ScannedText scanned = scan(text);
  REQUIRE(scanned.lines.size() == 2);
  const LogicalLine &line = scanned.lines[1];
  CHECK(line.code == "#b   cd");
  CHECK(line.at == std::vector<std::size_t>{7, 8, 9, 10, 15, 16, 19});
  CHECK(line.begin == 2);
  CHECK(line.end == text.size());
}

TEST_CASE("Lines are counted, with those that a comment or a splice joins") {
  const ScannedText scanned =
      scan("a\n/* x\\y\n*/ b\n// c\\\nd \\e\n\r\n#\\\r\ne /*\r\n\\\n\n*/ f\nlast");
  const std::vector<std::size_t> first = {1, 2, 4, 6, 7, 12};
  const std::vector<std::size_t> counts = {1, 2, 2, 1, 5, 1};
  REQUIRE(scanned.lines.size() == first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    INFO(i);
    CHECK(scanned.lines[i].first_line == first[i]);
    CHECK(scanned.lines[i].line_count == counts[i]);
    CHECK(scanned.lines[i].begin == (i == 0 ? 0 : scanned.lines[i - 1].end));
    CHECK(scanned.lines[i].is_blank == (i == 2 || i == 3));
  }
  CHECK(scan("").lines.empty());
}

TEST_CASE("Comments and literals that compilers may end elsewhere are doubted") {
  const Row rows[] = {
      {"#include <a /* b */ c>\n", "a comment within <...>"},
      {"#include <a // b>\n", "a comment within <...>"},
      {"#include <a> /* b */\n", ""},
      {"#include <a> // b\n", ""},
      {"#include \"a\" // b\n", ""},
      {"a < b /* c */;\n", ""},
      {"#error a /* b */\n", "a comment in #error or #warning"},
      {"#warning /* b */\n", "a comment in #error or #warning"},
      {"#error a // b\n", ""},
      {"#pragma /* b */\n", ""},
      {"\"http://x\"\n", ""},
      {"\"a /* b\"\n", "a comment within a literal"},
      {"\"/*//\"\n", "a comment within a literal"},
      {"\"///*\"\n", "a comment within a literal"},
      {"'//'\n", "a comment within a literal"},
      {"'/*'\n", "a comment within a literal"},
      {"'a/b'\n", ""},
      {"'a*b'\n", ""},
      {"'*/'\n", ""},
      {"\"a*b/c\"\n", ""},
      {"\"*/\"\n", ""},
      {"\"a // b\n", "a literal that does not end, with a comment"},
      {"'a /* b\n", "a literal that does not end, with a comment"},
      {"\"a / b\n", ""},
      {"\"a * b\n", ""},
      {"\"a\\\\\"\n", ""},
      {"\"a\\\n\"\n", "a literal in two lines"},
      {"\"a\\\\\n\"\n", "a literal in two lines"},
      {"\"a\\", "a literal in two lines"},
      {"\"a\\\\", "a literal in two lines"},
      {"\"a\\b\"", ""},
      {"\"a\\\\b\"", ""},
      {"R\"x\"\n", "a raw string"},
      {"R\\\n\"x\"\n", "a raw string"},
      {"R \"x\"\n", ""},
      {"R'x'\n", ""},
      {"L\"x\"\n", ""},
      {"1'0\n", ""},
      {"1'0 \"\n", "a quote behind a word"},
      {"1'0 \\\n", "a quote behind a word"},
      {"1'0 // x\n", "a quote behind a word"},
      {"1'0 /* x */\n", "a quote behind a word"},
      {"1'0 / x *\n/*\n*/\n", ""},
      {"('0' / x)\n\"//\"\n", ""},
      {"(' \" ')\n", ""},
  };
  for (const auto &[text, doubt] : rows) {
    INFO(text);
    CHECK(doubt_of(text) == doubt);
  }
}

TEST_CASE("Splices that join what two lines begin are doubted") {
  const Row rows[] = {
      {"a\\\nb\n", "a word in two lines"},
      {"a\\\n b\n", ""},
      {"a \\\nb\n", ""},
      {"a\\\n+\n", ""},
      {"+\\\nb\n", ""},
      {"/\\\n/\n", "a comment mark in two lines"},
      {"/\\\n*\n", "a comment mark in two lines"},
      {"*\\\n/\n", "a comment mark in two lines"},
      {"/\\\na\n", ""},
      {"a\\\n/b\n", ""},
      {"/* *\\\n/ */\n", "a comment mark in two lines"},
      {"/* \\\n*/\n", ""},
      {"/* \\\n\\\n*/\n", ""},
      {"%\\\n:\n", "%:"},
      {"%\\\na\n", ""},
      {"a\\\n:\n", ""},
      {"%:\n", "%:"},
      {"% :\n", ""},
      {"a:\n", ""},
      {"a \\b\n", "a backslash that does not end its line"},
      {"a\\\n", "a backslash at the end of the file"},
      {"// a\\\n", "a backslash at the end of the file"},
      {"// a\\\n\n", ""},
      {"/* a", "a comment that does not end"},
      {"/* a *", "a comment that does not end"},
      {"/*/", "a comment that does not end"},
      {"// a", ""},
  };
  for (const auto &[text, doubt] : rows) {
    INFO(text);
    CHECK(doubt_of(text) == doubt);
  }
}

TEST_CASE("Characters that are not known in code are doubted outside comments and literals") {
  const std::string what = "a character that is not known in code";
  for (const char *text : {"$", "\x01", "\x1f", "\x7f", "\xC3\xB6", "\v"}) {
    INFO(text);
    CHECK(doubt_of(text) == what);
    CHECK(doubt_of("// " + std::string(text)).empty());
    CHECK(doubt_of("\"" + std::string(text) + "\"").empty());
  }
  for (const char *text : {" ", "\t", "~", "!", "@", "`", "\f\n", "\f\r\n", "\f// a", "\f/* a */",
                           "a\f", "\fa", "\f \n", "a\fb", "\f\f\n"}) {
    INFO(text);
    CHECK(doubt_of(text).empty());
  }
  for (const char *text : {"#\f", "#define\fA", "#define A\f\n"}) CHECK(doubt_of(text) == what);
  for (const char *text : {"\f#define A", " \f #if 0\n#endif"}) {
    CHECK(doubt_of(text) == "a form feed before a directive");
  }
}

TEST_CASE("A dollar sign is known in groups that every compiler skips, but for directives") {
  const std::string what = "a character that is not known in code";
  for (const char *text :
       {"#if 0\n$\n#endif", "#if 0 // why\na$b\n#else\n#endif", "# if /* no */ 0\n$\n#endif",
        "#if 1\n#else\n$\n#endif", "#if 1\n#elif A\n$\n#elif B\n$\n#else\n$\n#endif",
        "#if A\n#elif 0\n$\n#endif", "#if 0\n#if 1\n$\n#else\n$\n#endif\n$\n#endif",
        "#if 1\n#else\n#ifdef A\n$\n#elif 1\n$\n#endif\n#endif", "#if 0\n1$'0\n#endif"}) {
    INFO(text);
    CHECK(doubt_of(text).empty());
  }
  for (const char *text :
       {"#if 00\n$\n#endif", "#if 0\n#else\n$\n#endif", "#if 0\n#endif\n$", "#ifdef A\n$\n#endif",
        "#if 0\n#elif A\n$\n#endif", "#if 1\n$\n#endif", "#if A\n#else\n$\n#endif",
        "#if 0\n#$\n#endif", "#if 0\n#else$\n#endif", "#if 0\n#define A $\n#endif",
        "#if 1\n#if 0\n#endif\n$\n#endif", "#ifdef 0\n$\n#endif", "#ifndef 0\n$\n#endif",
        "#if 0 + A\n$\n#endif", "#endif\n#else\n$", "#if 0\n\xC3\xA9\n#endif"}) {
    INFO(text);
    CHECK(doubt_of(text) == what);
  }
  CHECK(doubt_of("#if 0\n1$'0 //\n#endif") == "a quote behind a word");
}

TEST_CASE("Bytes that compilers read in different ways are found anywhere") {
  using namespace std::string_view_literals;
  const Row rows[] = {
      {"// a\0b"sv, "a byte of value 0"},
      {"// a\x1a", "a byte of value 26"},
      {"a\rb", "a carriage return without a line feed"},
      {"a\r", "a carriage return without a line feed"},
      {"a\r\nb\r", "a carriage return without a line feed"},
      {"a\r\n", ""},
      {"\?\?=", "a trigraph"},
      {"a \?\?-", "a trigraph"},
      {"\?\?\?)", "a trigraph"},
      {"\?\?x", ""},
      {"\?\?", ""},
      {"?a=", ""},
      {"? =", ""},
      {"a ? b : c ?", ""},
      {"a \\ \n", "blanks between a backslash and a line end"},
      {"a \\\t\r\n", "blanks between a backslash and a line end"},
      {"a \\\v\f", "blanks between a backslash and a line end"},
      {"\\\n \\ \n", "blanks between a backslash and a line end"},
      {"a \\\n", ""},
      {"a \\\r\n", ""},
      {"a \\", ""},
      {"a \\ x\n", ""},
      {"a \\x\n", ""},
  };
  for (const auto &[text, doubt] : rows) {
    INFO(text);
    const auto found = odd_bytes(text);
    CHECK((found ? found->what : "") == doubt);
  }
}

TEST_CASE("A dot that may begin an assembler's directive is noted") {
  for (const char *text : {".incbin",
                           ". x",
                           "\".incbin\"",
                           "(.a)",
                           "./",
                           ".:",
                           "..",
                           "..x",
                           ".x.",
                           "a, .b",
                           "#define A \".incbin\"",
                           "#define A .b",
                           "#if \".a\"",
                           "\"\\x2eincbin\"",
                           "\"\\056incbin\"",
                           "\"\\u002Eincbin\"",
                           "\".reg\"",
                           "\".regx \"",
                           ".reg .b32",
                           "\".reg\\n\"",
                           "\". reg \"",
                           "\".global_ \"",
                           "#if 0\n#else\n.a\n#endif"}) {
    INFO(text);
    CHECK(scan(text).has_bare_dot);
  }
  for (const char *text : {"a.b",
                           "9.b",
                           "_.b",
                           ").b",
                           "].b",
                           ".0",
                           ".9",
                           "f(int, ...)",
                           "'.'",
                           "a.b.c",
                           "a\\\n.b",
                           "// .a",
                           "#include \".a\"",
                           "#line 1 \".a\"",
                           "\"a.b\"",
                           "\"1.5\"",
                           "\"{\\n.reg .b32 a;\"",
                           "\".shared.b32 x; .global .align x\"",
                           "#if 0\n.a \".a\" \"\\x2e\"\n#endif",
                           "#if 1\n#else\n.a\n#endif",
                           "'\\0'"}) {
    INFO(text);
    CHECK_FALSE(scan(text).has_bare_dot);
  }
}

TEST_CASE("Words are given as the text has them, but for numbers") {
  std::string words;
  const TakeWord take = [&](std::string_view word) { words += std::string(word) + " "; };
  scan("a1 _b 2c /* d */ \"e\" // f\n#g h\\\n i\n'j' 0x1 :9a ;/k", take);
  CHECK(words == "a1 _b g h i k ");
}

TEST_CASE("A text ends where its view ends") {
  const std::string texts[] = {"#a /b",   "#a //b",    "#a /* */b", "#a \"b\"c", "#a \\\n\n b",
                               "#a ab",   "#a ...",    "#a .0",     "#a %:",     "#a\r\nb",
                               "#a ?\?=", "#a R\"b\"", "#a \\ \n",  "#a 'b'",    "#a\f\n"};
  for (const std::string &text : texts) {
    for (std::size_t size = 0; size <= text.size(); ++size) {
      INFO(text << " " << size);
      const std::string copy = text.substr(0, size);
      const ScannedText view = scan(std::string_view(text).substr(0, size));
      const ScannedText whole = scan(copy);
      REQUIRE(view.lines.size() == whole.lines.size());
      for (std::size_t i = 0; i < view.lines.size(); ++i) {
        CHECK(view.lines[i].code == whole.lines[i].code);
        CHECK(view.lines[i].end == whole.lines[i].end);
        CHECK(view.lines[i].line_count == whole.lines[i].line_count);
      }
      CHECK((view.doubt ? view.doubt->what : "") == (whole.doubt ? whole.doubt->what : ""));
      CHECK(view.has_bare_dot == whole.has_bare_dot);
    }
  }
}

TEST_CASE("A directive has a name and operands") {
  const auto parts = [](std::string_view text) {
    const ScannedText scanned = scan(text);
    const Directive found = directive_of(scanned.lines.at(0));
    return std::string(found.name) + "|" + scanned.lines[0].code.substr(found.operands) + "|" +
           (found.is_one ? "#" : "");
  };
  CHECK(parts("#define A 1") == "define|A 1|#");
  CHECK(parts(" # \t define\t A") == "define|A|#");
  CHECK(parts("#define ") == "define||#");
  CHECK(parts("#define(A)") == "define|(A)|#");
  CHECK(parts("# 7 \"y\"") == "7|\"y\"|#");
  CHECK(parts("#") == "||#");
  CHECK(parts("# ") == "||#");
  CHECK(parts("a") == "||");
}

TEST_CASE("kernels are named, and no other functions", "[source]") {
  const std::vector<std::string> two = {"b", "a"};  // in the text's order
  CHECK(kernels_in("void f(void);\n// kernel void c()\nkernel void b();\n"
                   "kernel void a(global int *o) { int kernels = 0; f(); }\n"
                   "__kernel __attribute__((reqd_work_group_size(8, 1, 1)))\nvoid b() {}\n") ==
        two);
  CHECK(kernels_in("int kernel").empty());
  CHECK(kernels_in("kernel").empty());
  CHECK(kernels_in("\"kernel void a\"; void b()").empty());
  CHECK(kernels_in("").empty());
}

// A reader that goes back for each apostrophe, comment or literal would take hours.
TEST_CASE("A line of megabytes is read once") {
  const auto many = [](std::string_view part) {
    std::string text;
    for (std::size_t i = 0; i < 500'000; ++i) text += part;
    return text;
  };
  const std::string blanks(2'000'000, ' ');
  CHECK(doubt_of(many("x'a'")).empty());
  CHECK(doubt_of("#if 0\n" + many("don't ") + "\n#endif\n").empty());
  CHECK(doubt_of(many("x'a'") + "\"\"") == "a quote behind a word");
  CHECK(doubt_of("#define A " + many("x'a'")).empty());
  CHECK(doubt_of("#include <" + blanks + many("/**/")) == "a comment within <...>");
  CHECK(doubt_of("#include <" + blanks + ">" + many("/**/")).empty());
  CHECK(doubt_of("#error " + many("/**/")) == "a comment in #error or #warning");
  CHECK(doubt_of("#" + many("/**/") + "define A").empty());
  CHECK(doubt_of("#" + blanks + "define" + blanks + "A " + many("\"a\"")).empty());
}

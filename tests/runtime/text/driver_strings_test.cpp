// SPDX-License-Identifier: Apache-2.0
#include "runtime/text/driver_strings.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::runtime;

TEST_CASE("words lie between white space of any kind", "[text]") {
  for (const char *text : {"one two", " one\ttwo ", "\r\none \v\f two\n"}) {
    CAPTURE(text);
    CHECK(first_word(text) == "one");
    CHECK(last_word(text) == "two");
  }
  CHECK(first_word("one") == "one");
  CHECK(last_word("one") == "one");
  for (const char *text : {"", " ", "\t\n"}) {
    CHECK(first_word(text).empty());
    CHECK(last_word(text).empty());
  }
}

TEST_CASE("a word is found behind a mark, and white space only where the mark has it", "[text]") {
  CHECK(word_after("a Compiler E031 b", "Compiler ") == "E031");
  CHECK(word_after("a Compiler \t E031", "Compiler ") == "E031");
  CHECK(word_after("a Compiler  ", "Compiler ").empty());
  CHECK(word_after("a Compiler", "Compiler ").empty());
  CHECK(word_after("OpenCL v1.r32 x", " v1.") == "r32");
  CHECK(word_after("OpenCL v1. r32", " v1.").empty());
  CHECK(word_after("a=b a=c", "a=") == "b");
  CHECK(word_after("ab c", "") == "ab");
  CHECK(word_after(" ab", "").empty());
  CHECK(word_after("", "a").empty());
}

TEST_CASE("digits are counted up to what is none", "[text]") {
  CHECK(count_digits("0959", 0) == 4);
  CHECK(count_digits("a12b", 1) == 2);
  CHECK(count_digits("a12b", 0) == 0);
  CHECK(count_digits("12", 2) == 0);
  CHECK(count_digits("1/", 0) == 1);
  CHECK(count_digits("1:", 0) == 1);
  CHECK(count_digits(std::string("1\0002", 3), 0) == 1);
}

TEST_CASE("a start does not end within a character, and goes back at most three bytes", "[text]") {
  CHECK(utf8_prefix("abc", 4) == 3);
  CHECK(utf8_prefix("abc", 3) == 3);
  CHECK(utf8_prefix("abc", 2) == 2);
  CHECK(utf8_prefix("a\xc3\xa4", 2) == 1);
  CHECK(utf8_prefix("a\xc3\xa4", 3) == 3);
  CHECK(utf8_prefix("\xf0\x9f\x94\xa5", 3) == 0);
  CHECK(utf8_prefix("\xf0\x9f\x94\xa5", 1) == 0);
  // What is no UTF-8 is cut anywhere.
  CHECK(utf8_prefix(std::string(9, '\x80'), 6) == 3);
  CHECK(utf8_prefix(std::string(9, '\x80'), 2) == 0);
  CHECK(utf8_prefix(std::string(9, '\x80'), 0) == 0);
}

TEST_CASE("letters are compared without regard to their case", "[text]") {
  CHECK(equals_ignoring_case("ARM", "arm"));
  CHECK_FALSE(equals_ignoring_case("ARM", "ar"));
  CHECK_FALSE(equals_ignoring_case("AR", "arm"));
  CHECK(contains_ignoring_case("an ARM Mali", "arm m"));
  CHECK_FALSE(contains_ignoring_case("an AR", "arm"));
  CHECK(starts_with("Mali-G", "Mali"));
  CHECK_FALSE(starts_with("Mal", "Mali"));
  CHECK_FALSE(starts_with("mali", "Mali"));
  CHECK(until("a.b.c", '.') == "a");
  CHECK(until("abc", '.') == "abc");
}

TEST_CASE("hexadecimal digits are of both cases", "[text]") {
  for (const char *text : {"0", "9", "a", "f", "A", "F", "09afAF"}) CHECK(is_hexadecimal(text));
  for (const char *text : {"", "g", "G", "/", ":", "`", "@", "a g"}) {
    CAPTURE(text);
    CHECK_FALSE(is_hexadecimal(text));
  }
}

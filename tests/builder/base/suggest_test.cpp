// SPDX-License-Identifier: Apache-2.0
#include "builder/base/names.hpp"

#include "tests/support/catch.hpp"

using kiln::builder::edit_distance;
using kiln::builder::expected_one_of;
using kiln::builder::suggest;

TEST_CASE("The edit distance counts insertions, deletions, replacements and swaps") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("options", "options") == 0);
  CHECK(edit_distance("optoins", "options") == 1);
  CHECK(edit_distance("option", "options") == 1);
  CHECK(edit_distance("source", "sauce") == 2);
  CHECK(edit_distance("OPTIONS", "options") == 0);
}

TEST_CASE("The nearest word is suggested, the first of equals") {
  CHECK(suggest("biuld", {"build", "tune"}) == "build");
  CHECK(suggest("fp1", {"fp16", "fp64"}) == "fp16");
  CHECK(suggest("fp6", {"fp16", "fp64"}) == "fp16");
}

TEST_CASE("A word that resembles none gets no suggestion") {
  CHECK_FALSE(suggest("elephant", {"build", "tune"}).has_value());
  CHECK_FALSE(suggest("x", {"y"}).has_value());
  CHECK_FALSE(suggest("", {"a"}).has_value());
  CHECK_FALSE(suggest("build", {}).has_value());
  CHECK_FALSE(suggest(std::string(1000, 'a'), {std::string(1000, 'a')}).has_value());
}

TEST_CASE("The expectation lists every word and ends with the suggestion") {
  CHECK(expected_one_of("sorce", {"options", "source"}) ==
        "expected one of: options, source; did you mean \"source\"?");
  CHECK(expected_one_of("zzz", {"options", "source"}) == "expected one of: options, source");
}

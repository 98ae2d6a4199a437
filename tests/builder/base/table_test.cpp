// SPDX-License-Identifier: Apache-2.0
#include "builder/base/table.hpp"

#include "tests/support/catch.hpp"

using kiln::builder::table_text;

TEST_CASE("columns are as wide as their widest cells, and numbers end below one another") {
  CHECK(table_text("run\tbuilds\ts\nrecorded\t2\t10.31\nserved\t0\t9\n", "<>>") ==
        "run       builds      s\n"
        "recorded       2  10.31\n"
        "served         0      9\n");
}

TEST_CASE("no line ends in blanks") {
  CHECK(table_text("starts\t\n1\tapp\n20\tb\n\n", ">") == "starts\n     1  app\n    20  b\n\n");
}

TEST_CASE("the sentence that ends a shorter line widens no column") {
  CHECK(table_text("a\t1\t2\nlonger\twas not measured\na whole line\n", "<>>") ==
        "a       1  2\nlonger  was not measured\na whole line\n");
}

TEST_CASE("a character of several bytes counts as one") {
  CHECK(table_text("\xc3\xa9t\xc3\xa9\t1\nete\t2\n") == "\xc3\xa9t\xc3\xa9  1\nete  2\n");
}

TEST_CASE("a text without lines is empty") { CHECK(table_text("").empty()); }

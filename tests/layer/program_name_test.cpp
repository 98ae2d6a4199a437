// SPDX-License-Identifier: Apache-2.0
// What a recorded program is known by, and which texts may take in files.
#include "runtime/layer/program_name.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::layer;

TEST_CASE("a program is known by its source and its options", "[layer]") {
  const std::string name = program_name("kernel void k() {}", "-DX=1");
  CHECK(name == program_name("kernel void k() {}", "-DX=1"));
  CHECK(name.size() == 3 + 32);
  CHECK(name.substr(0, 3) == "cl-");
  CHECK(name != program_name("kernel void k() {}", "-DX=2"));
  CHECK(name != program_name("kernel void k() {} ", "-DX=1"));
  // What moves from one to the other is another program.
  CHECK(program_name("ab", "c") != program_name("a", "bc"));
}

TEST_CASE("a text that may depend on files or the time is recognised", "[layer]") {
  for (const char *text :
       {"#include \"a.h\"", "  # include <a.h>", "#inc\\\nlude \"a.h\"", "#inc\\\r\nlude \"a.h\"",
        "%:include \"a.h\"", "#/* a\n comment */include \"a.h\"", "#include_next <a.h>",
        "#import \"a.h\"", "-imacros a.h", "#if __has_include(<a.h>)", "__TIME__",
        "#embed \"a.bin\"", "-include a.h", "include"}) {
    CHECK(depends_on_more(text));
  }
  for (const char *text :
       {"", "// this includes nothing, and is included by none",
        "int includes; int my_include; int include2;", "important", "inc\nlude"}) {
    CHECK_FALSE(depends_on_more(text));
  }
}

// SPDX-License-Identifier: Apache-2.0
#include "builder/under_layer/spool.hpp"

#include "tests/support/catch.hpp"

namespace kiln::builder {
namespace {

packs::Program program(const std::string &name, const std::string &options,
                       const std::string &kernel) {
  packs::Program made;
  made.name = name;
  made.variants.resize(1);
  made.variants[0].options = options;
  made.variants[0].kernels.resize(1);
  made.variants[0].kernels[0].name = kernel;
  return made;
}

// Four programs of one shape, and two that are alone with theirs.
packs::Contents six() {
  packs::Contents contents;
  for (const char *name : {"a", "b", "c", "d"})
    contents.programs.push_back(program(name, "-DX", "k"));
  contents.programs.push_back(program("other-options", "", "k"));
  contents.programs.push_back(program("other-kernel", "-DX", "l"));
  return contents;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a text that differs at each start is reported", "[spool]") {
  CHECK(programs_with_varying_source(six(), "1 app a\n2 app b\n3 app c\n") == Names{"a", "b", "c"});
  CHECK(programs_with_varying_source(six(), "1 app a\n1 app b\n2 app c\n3 app d\n") ==
        Names{"a", "b", "c", "d"});
}

TEST_CASE("what two starts built is reproducible, and so are those like it", "[spool]") {
  CHECK(programs_with_varying_source(six(), "1 app a\n2 app a\n").empty());
  CHECK(programs_with_varying_source(six(), "1 app a\n2 app a\n2 app b\n").empty());
  CHECK(programs_with_varying_source(six(), "1 app a\n2 app b\n3 app a\n").empty());
}

TEST_CASE("one start says nothing, nor do starts of other commands or other shapes", "[spool]") {
  CHECK(programs_with_varying_source(six(), "").empty());
  CHECK(programs_with_varying_source(six(), "1 app a\n1 app b\n").empty());
  CHECK(programs_with_varying_source(six(), "1 app a\n2 tool b\n").empty());
  CHECK(programs_with_varying_source(six(), "1 app a\n2 app other-options\n3 app other-kernel\n")
            .empty());
}

TEST_CASE("what another command builds at each start is reproducible", "[spool]") {
  CHECK(programs_with_varying_source(six(), "1 app a\n2 app b\n3 app c\n4 tool a\n5 tool a\n") ==
        Names{"b", "c"});
}

TEST_CASE("two starts with different texts may be one before and one after an upgrade", "[spool]") {
  CHECK(programs_with_varying_source(six(), "1 app a\n2 app b\n").empty());
  CHECK(programs_with_varying_source(six(), "1 app a\n2 app b\n3 app b\n").empty());
}

TEST_CASE("lines that are cut, and programs that are not there, are passed over", "[spool]") {
  CHECK(programs_with_varying_source(six(), "1 app\n\n1 app gone\n2 app b\n3 app c\n4 app a") ==
        Names{"a", "b", "c"});
  CHECK(programs_with_varying_source(six(), "1 app a\n2 ap").empty());
}

}  // namespace kiln::builder

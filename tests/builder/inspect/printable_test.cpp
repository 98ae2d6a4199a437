// SPDX-License-Identifier: Apache-2.0
#include "builder/inspect/printable.hpp"

#include "builder/inspect/pack_diff.hpp"
#include "tests/support/catch.hpp"

namespace kiln::builder {

TEST_CASE("What a terminal would obey is escaped", "[printable]") {
  CHECK(printable("\x1b[2J\x1b]0;x\x07") == "\\x1b[2J\\x1b]0;x\\x07");
  CHECK(printable("a\rb\bc\x7f") == "a\\x0db\\x08c\\x7f");
  CHECK(printable(std::string_view("\0", 1)) == "\\x00");
  CHECK(printable("\xc2\x9b"
                  "2J") == "\\u009b2J");  // CSI as one character of C1
  CHECK(printable("\x9b"
                  "2J\xc2") == "\\x9b2J\\xc2");                        // and as a byte
  CHECK(printable("\xe2\x80\xae \xe2\x81\xa6") == "\\u202e \\u2066");  // from right to left
  CHECK(printable("\xed\xa0\x80\xff") == "\\xed\\xa0\\x80\\xff");      // no UTF-8
}

TEST_CASE("Text that can be seen stays", "[printable]") {
  for (const std::string text :
       {"", "two\n\tlines\n", "\\x1b", "caf\xc3\xa9 \xe2\x84\xa2 \xf0\x9f\x98\x80",
        "\xc2\xa0\xc3\x80", "\xe2\x80\xa6", "\xe2\x81\xaa"}) {
    CHECK(printable(text) == text);
  }
}

TEST_CASE("A name stays in its line", "[printable]") {
  CHECK(printable_line("a\nkiln: sound\t") == "a\\x0akiln: sound\\x09");
  CHECK(printable_line("\xe2\x80\xa8") == "\\u2028");
  packs::Contents contents;
  contents.programs.resize(1);
  contents.programs[0].name = "a\nb";
  contents.programs[0].variants.resize(1);
  contents.programs[0].variants[0].options = "-DX\n";
  contents.targets.resize(1);
  contents.targets[0].key = "k\n";
  contents.targets[0].identity = {{"device_name", "x\n"}};
  contents.tunings.resize(1);
  contents.tunings[0].conditions = "\x1b";
  const packs::Contents shown = printable_contents(contents);
  CHECK(shown.programs[0].name == "a\\x0ab");
  CHECK(shown.programs[0].variants[0].options == "-DX\\x0a");
  CHECK(shown.targets[0].key == "k\n");  // by which it is found
  CHECK(shown.targets[0].identity[0].second == "x\\x0a");
  CHECK(shown.tunings[0].conditions == "\\x1b");
  CHECK(differences_text(compare_packs(contents, {}), "a", "b")
            .find("program a\\x0ab, 1 variant\n") != std::string::npos);
}

}  // namespace kiln::builder

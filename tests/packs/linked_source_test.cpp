// SPDX-License-Identifier: Apache-2.0
#include "kiln/packs/linked_source.hpp"

#include "tests/support/catch.hpp"

using kiln::packs::is_linked_source;
using kiln::packs::linked_source;
using kiln::packs::LinkedPart;
using kiln::packs::read_linked_source;

namespace {

// Returns what reading gives, written again; nothing for a damaged text.
std::string read_and_written(std::string_view text) {
  std::vector<LinkedPart> parts;
  return read_linked_source(text, &parts) ? linked_source(parts) : "";
}

}  // namespace

TEST_CASE("a linked program's text gives its parts back", "[linked]") {
  const std::string library = linked_source({{"int f(void) { return 1; }", ""}});
  const std::string module("\3\2#\7\0\n", 6);
  const std::string text = linked_source(
      {{"kernel void k() {}\n", "-DA=1 -w"}, {module, "", true}, {library, "-x"}, {}});
  CHECK(is_linked_source(text));
  std::vector<LinkedPart> parts;
  REQUIRE(read_linked_source(text, &parts));
  REQUIRE(parts.size() == 4);
  CHECK(parts[0].source == "kernel void k() {}\n");
  CHECK(parts[0].options == "-DA=1 -w");
  CHECK_FALSE(parts[0].is_il);
  CHECK(parts[1].source == module);
  CHECK(parts[1].is_il);
  CHECK(parts[2].source == library);
  CHECK(parts[2].options == "-x");
  CHECK(parts[3].source.empty());
  CHECK(is_linked_source(parts[2].source));
  CHECK_FALSE(is_linked_source(parts[0].source));
  CHECK(text.rfind("#error ", 0) == 0);
}

TEST_CASE("a damaged text of a linked program is refused or another program", "[linked]") {
  const std::string text = linked_source({{"kernel void k() {}", "-w"}, {"int f;", ""}});
  CHECK(read_and_written(text) == text);
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::string cut = text.substr(0, size);
    const std::string same = read_and_written(cut);
    CHECK((same.empty() || same == cut));  // cut behind the first part: a link of one
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char other : {'0', '9', ' ', '\n', 'x'}) {
      std::string changed = text;
      changed[at] = other;
      const std::string same = read_and_written(changed);
      CHECK((same.empty() || same == changed));
    }
  }
  const std::string first = text.substr(0, text.find('\n') + 1);
  for (const char *rest :
       {"", "source 0 0\n\n", "source 1 0\n\n\n", "source 00 0\n\n\n", "source  0\n\n\n",
        "source 18446744073709551615 0\n\n\n", "source 18446744073709551616 0\n\n\n",
        "source 0 0\n\n\nsource", "source 2 01\nx\n", "other 0 0\n\n\n", "source 0 0\n\n\n\n"}) {
    CHECK(read_and_written(first + rest).empty());
  }
  CHECK(read_and_written(first + "source 0 0\n\n\n") == first + "source 0 0\n\n\n");
}

// SPDX-License-Identifier: Apache-2.0
// A known-bad note on a driver that computes: what it leaves out is loaded from lower rungs, with
// right values, and the same note about another driver changes nothing.
#include "tests/driver/ladder.hpp"

using namespace kiln;
using namespace kiln::test;
using packs::NoteText;

namespace {

// Writes the machine's full pack with a note about drivers from `from` on, and returns its path.
std::string noted_pack(const std::string &name, const std::string &from, std::uint32_t rungs) {
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
  REQUIRE(packs::Pack::open_file(machine().full().c_str(), &pack).ok());
  REQUIRE(packs::read_contents(pack, &contents).ok());
  packs::KnownBad note;
  note.texts[static_cast<std::size_t>(NoteText::kernel)] = "trip*";
  note.texts[static_cast<std::size_t>(NoteText::driver_from)] = from;
  note.texts[static_cast<std::size_t>(NoteText::reason)] = "twice the sum";
  note.rungs = rungs;
  contents.known_bad_version = 1;
  contents.known_bad = {note};
  const std::string path = machine().driver().path(name);
  REQUIRE(packs::write_pack(contents, path).ok());
  return path;
}

constexpr std::uint32_t kExact = 1u << KILN_RUNG_EXACT;
constexpr std::uint32_t kIl = 1u << KILN_RUNG_IL;

}  // namespace

TEST_CASE("rungs that a note leaves out are not given to the driver", "[known-bad]") {
  const Start il = machine().start_with("", noted_pack("exact.kiln", "", kExact), with(""));
  INFO(il.child.reason() << il.report);
  CHECK(il.rung == "il");
  CHECK(il.right);
  CHECK(il.reason("exact") == "known to be wrong: twice the sum");
  const std::string both = noted_pack("both.kiln", "", kExact | kIl);
  const Start source = machine().start_with("", both, with(""));
  CHECK(source.rung == "source");
  CHECK(source.right);
  CHECK(source.outcome("il") == "missed");
}

TEST_CASE("a note about other drivers leaves nothing out", "[known-bad]") {
  const Start start = machine().start_with("", noted_pack("other.kiln", "9999", kExact), with(""));
  INFO(start.child.reason() << start.report);
  CHECK(start.rung == "exact");
  CHECK(start.right);
}

TEST_CASE("a note that arrives takes the overlay's binary away, and the next one serves",
          "[known-bad]") {
  const std::string overlay = machine().new_overlay();
  const std::string noted = noted_pack("noted.kiln", "", kExact | kIl);
  CHECK(machine().start_with("", machine().base(), with(overlay)).rung == "il");
  CHECK(machine().start_with("", machine().base(), with(overlay)).rung == "overlay");
  const Start first = machine().start_with("", noted, with(overlay));
  CHECK(first.rung == "source");
  CHECK(first.right);
  const Start next = machine().start_with("", noted, with(overlay));
  CHECK(next.rung == "overlay");
  CHECK(next.right);
}

// SPDX-License-Identifier: Apache-2.0
// Files of known-bad notes: what they say, and what is wrong with them.
#include "builder/manifest/note_file.hpp"

#include "builder/inspect/note_text.hpp"
#include "tests/support/catch.hpp"

using namespace kiln;

namespace {

std::string known_bad_fault(const std::string &text) {
  const auto read = builder::parse_known_bad(text, "notes.toml");
  return read.ok() ? "none" : read.status().message;
}

bool blames(const std::string &text, const std::string &part) {
  const std::string fault = known_bad_fault(text);
  INFO(fault);
  return fault.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("Kiln's own file of notes is read", "[known-bad]") {
  const auto read =
      builder::read_known_bad(std::string(KILN_SOURCE_DIR) + "/manifests/known-bad.toml");
  REQUIRE(read.ok());
  CHECK(read->known_bad_version >= 1);
  REQUIRE(read->known_bad.size() >= 2);
  CHECK(builder::rung_words(read->known_bad[0].rungs) == "all");
  CHECK(builder::rung_words(read->known_bad[1].rungs) == "il");
  CHECK(builder::note_subject(read->known_bad[1]) ==
        "profile intel, driver_from 1.0.0, driver_below 1.0.1");
}

TEST_CASE("a file of notes that is wrong is refused with the place", "[known-bad]") {
  CHECK(known_bad_fault("version = 2\n") == "none");  // withdraws all notes
  CHECK(blames("", "version"));
  CHECK(blames("version = 0\n", "version"));
  CHECK(blames("version = 1\nnote = 1\n", "notes.toml:2:"));
  CHECK(blames("version = 1\n[[note]]\nprogram = \"p\"\n", "reason"));
  CHECK(blames("version = 1\n[[note]]\nreason = \"\"\n", "reason"));
  CHECK(blames("version = 1\n[[note]]\nreason = \"r\"\nprogramm = \"p\"\n", "program"));
  CHECK(blames("version = 1\n[[note]]\nreason = \"r\"\nrungs = [\"exakt\"]\n",
               "did you mean \"exact\"?"));
}

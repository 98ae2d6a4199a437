// SPDX-License-Identifier: Apache-2.0
// Which entries and files of the overlay's folder are taken, and which are left alone.
#include "runtime/overlay/entry.hpp"

#include "tests/runtime/overlay/overlay_fixture.hpp"

using namespace kiln;
using namespace kiln::test;
namespace fs = std::filesystem;

TEST_CASE_METHOD(OverlayFixture, "an entry of before the driver or the system changed is a miss",
                 "[entry]") {
  { const Start first(base, overlay); }
  const std::vector<std::string> entries = names_in(overlay, "e-");
  REQUIRE(entries.size() == 1);
  // As if another driver had made it: the entry's number is the only difference.
  packs::Bytes file = bytes_of(contents_of(overlay / entries[0]));
  runtime::OverlayEntry entry;
  REQUIRE(runtime::parse_entry({file.data(), file.size()}, &entry).ok());
  std::string facts(entry.facts);
  const std::size_t at = facts.find("driver_number=");
  REQUIRE(at != std::string::npos);
  char &digit = facts[at + 14];
  digit = digit == '0' ? '1' : '0';
  entry.facts = facts;
  std::uint8_t header[runtime::kEntryHeaderSize + 1];
  header[runtime::kEntryHeaderSize] = 77;
  runtime::encode_entry_header(entry, header);
  CHECK(header[runtime::kEntryHeaderSize] == 77);  // nothing behind it is written
  std::string changed(reinterpret_cast<const char *>(header), runtime::kEntryHeaderSize);
  changed += std::string(entry.key) + facts;
  changed.append(reinterpret_cast<const char *>(entry.binary.data), entry.binary.size);
  std::ofstream(overlay / entries[0], std::ios::binary) << changed;
  {
    const Start next(base, overlay);
    CHECK(next.load.reason(KILN_RUNG_OVERLAY) ==
          "missed: the overlay's binary was made before the driver or the system changed");
    CHECK(next.load.rung() == KILN_RUNG_IL);
  }
  CHECK(Start(base, overlay).load.rung() == KILN_RUNG_OVERLAY);
}

TEST_CASE_METHOD(OverlayFixture, "what others could have put into the overlay is not taken",
                 "[entry]") {
  { const Start first(base, overlay); }
  const fs::path entry = overlay / names_in(overlay, "e-").at(0);
  const auto refused = [&](const char *what,
                           const char *why = "another user owns it or may write to it") {
    CAPTURE(what);
    const Start next(base, overlay);
    CHECK(next.load.reason(KILN_RUNG_OVERLAY).find(why) != std::string::npos);
  };
  fs::permissions(entry, fs::perms::others_write, fs::perm_options::add);
  refused("anybody may write to the entry");
  fs::permissions(entry, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_hard_link(entry, folder.path() / "again");
  refused("the entry has another name", "it has a second name");
  fs::remove(folder.path() / "again");
  CHECK(Start(base, overlay).load.rung() == KILN_RUNG_OVERLAY);
  if (geteuid() == 0) {
    REQUIRE(chown(entry.c_str(), 65534, 65534) == 0);
    refused("the entry is another user's");
    REQUIRE(chown(overlay.c_str(), 0, 65534) == 0);
    fs::permissions(overlay, fs::perms::group_write, fs::perm_options::add);
    refused("a group may write to the folder");
  }
  const fs::path link = folder.path() / "link";
  fs::create_directory_symlink(overlay, link);
  overlay = link / "";
  const Start linked(base, overlay);
  CHECK(linked.load.reason(KILN_RUNG_OVERLAY).find("it is a symbolic link") != std::string::npos);
}

TEST_CASE_METHOD(OverlayFixture, "other files of the folder are left alone", "[entry]") {
  { const Start start(pack, overlay); }
  for (const char *name : {"a-icon.png", "e-mail", "d-day", "temporary-file"}) {
    folder.write(fs::path("overlay") / name, "mine");
  }
  { const Start start(pack, overlay, KILN_LOAD_NO_BINARY, "q"); }
  REQUIRE(kiln_overlay_clear(overlay.c_str(), nullptr) == KILN_OK);
  CHECK(names_in(overlay, "") ==
        std::vector<std::string>{"a-icon.png", "d-day", "e-mail", "temporary-file"});
}

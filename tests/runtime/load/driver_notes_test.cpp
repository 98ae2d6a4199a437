// SPDX-License-Identifier: Apache-2.0
// What a load comes to where something is known of the driver.
#include "tests/runtime/overlay/overlay_fixture.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

// One note about the scripted driver.
struct NotesFixture : OverlayFixture {
  NotesFixture() {
    note.size = sizeof(note);
    note.who = "generic";
    options.size = sizeof(options);
    kiln_loader_use_overlay(&options, path.c_str(), 0);
    options.driver_notes = &note;
    options.driver_note_count = 1;
  }

  kiln_rung rung(const packs::Bytes &bytes) {
    return FakeLoad(bytes, 0, "p", nullptr, &options).rung();
  }

  void refused(const char *why) {
    kiln_device *device = fake_device();
    kiln_pack *opened = nullptr;
    kiln_loader *loader = nullptr;
    kiln_error error{};
    REQUIRE(kiln_pack_open_memory(pack.data(), pack.size(), &opened, nullptr) == KILN_OK);
    CHECK(kiln_loader_create(device, opened, &options, &loader, &error) == KILN_ERROR_ARGUMENT);
    CHECK(std::string(error.message).find(why) != std::string::npos);
    kiln_pack_release(opened);
    kiln_device_release(device);
  }

  const std::string path = overlay.string();
  kiln_driver_note note = {};
  kiln_loader_options options = {};
};

}  // namespace

TEST_CASE_METHOD(NotesFixture, "a note is about some versions of a driver", "[notes]") {
  const struct {
    const char *from;
    const char *below;
    bool about;
  } rows[] = {{nullptr, nullptr, true},
              {"7.1", "7.2", true},
              {"7.0", nullptr, true},
              {"7.2", nullptr, false},
              {nullptr, "7.1", false}};
  note.flags = KILN_DRIVER_NEVER_GIVE | KILN_DRIVER_NEVER_ASK;
  for (const auto &row : rows) {
    note.from = row.from;
    note.below = row.below;
    CHECK(rung(pack) == (row.about ? KILN_RUNG_IL : KILN_RUNG_EXACT));
  }
  note = {sizeof(note), "Another driver", nullptr, nullptr, KILN_DRIVER_NEVER_GIVE, nullptr};
  CHECK(rung(pack) == KILN_RUNG_EXACT);
}

TEST_CASE_METHOD(NotesFixture, "a driver that must not be asked for its binary is not", "[notes]") {
  note.flags = KILN_DRIVER_NEVER_ASK;
  fake().il.on_asked = [] { FAIL("asked"); };
  CHECK(rung(base) == KILN_RUNG_IL);
  CHECK(rung(base) == KILN_RUNG_IL);  // nothing was stored
  CHECK(names_in(overlay, "e-").empty());
}

TEST_CASE_METHOD(NotesFixture, "a driver's binary need not be compared", "[notes]") {
  fake().binary.binary = "newly compiled";
  note.flags = KILN_DRIVER_NEVER_COMPARE;
  const FakeLoad load(pack, 0, "p", nullptr, &options);
  CHECK(load.rung() == KILN_RUNG_EXACT);
  CHECK(load.json().find("\"recompiled\": true") == std::string::npos);
  CHECK(names_in(overlay, "e-").empty());
}

TEST_CASE_METHOD(NotesFixture, "a note's options are part of what the overlay stores", "[notes]") {
  note.options = "-cl-opt-disable";
  CHECK(rung(base) == KILN_RUNG_IL);
  REQUIRE(fake().il.built_with);
  CHECK(fake().il.built_with->find(" -cl-opt-disable") != std::string::npos);
  CHECK(rung(base) == KILN_RUNG_OVERLAY);
  note.options = "-cl-no-signed-zeros";
  CHECK(rung(base) == KILN_RUNG_IL);
}

TEST_CASE_METHOD(NotesFixture, "a note of a later version of Kiln is refused", "[notes]") {
  note.flags = 16;
  refused("unknown bits in flags");
  note.flags = 0;
  note.size = 1;
  refused("kiln_driver_note");
}

// SPDX-License-Identifier: Apache-2.0
// A driver that dies or silently recompiles is remembered by the next start.
#include <atomic>
#include <thread>

#include "kiln/packs/bytes.hpp"
#include "runtime/overlay/markers.hpp"
#include "tests/runtime/overlay/overlay_fixture.hpp"
#include "tests/support/journal_file.hpp"

using namespace kiln;
using namespace kiln::test;
namespace fs = std::filesystem;

namespace {

constexpr char kDied[] =
    "quarantined: an earlier process ended inside the driver while it was given this";

}  // namespace

TEST_CASE_METHOD(OverlayFixture, "a binary is passed over after two deaths", "[quarantine]") {
  dies_at_start(pack, overlay);
  dies_at_start(pack, overlay);
  CHECK(names_in(overlay, "a-").size() == 1);
  {
    const Start next(pack, overlay);
    CHECK(next.notices.text(KILN_NOTICE_DEATH) == "an earlier process ended inside the driver");
    CHECK(next.load.reason(KILN_RUNG_EXACT) == kDied);
    CHECK(next.load.rung() == KILN_RUNG_IL);
    CHECK(next.load.json().find("\"outcome\": \"quarantined\"") != std::string::npos);
  }
  CHECK(names_in(overlay, "a-").empty());
  const Start later(pack, overlay);
  CHECK_FALSE(later.notices.has(KILN_NOTICE_DEATH));
  CHECK(later.load.rung() == KILN_RUNG_OVERLAY);
  const Start other(pack, overlay, 0, "q");
  CHECK(other.load.rung() == KILN_RUNG_EXACT);
}

TEST_CASE_METHOD(OverlayFixture,
                 "three deaths over two binaries quarantine a rung that never worked",
                 "[quarantine]") {
  dies_at_start(pack, overlay, "p");
  dies_at_start(pack, overlay, "q");
  CHECK(Start(pack, overlay, KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE, "p").load.rung() ==
        KILN_RUNG_EXACT);
  TemporaryFolder fresh;
  overlay = fresh.path();
  for (const char *const program : {"p", "p", "q"}) dies_at_start(pack, overlay, program);
  const Start third(pack, overlay, 0, "r");
  CHECK(third.load.reason(KILN_RUNG_EXACT) ==
        "quarantined: the driver died three times on this rung, with two binaries");
  CHECK(third.load.rung() == KILN_RUNG_IL);
}

TEST_CASE_METHOD(OverlayFixture,
                 "one death with many threads in the driver leaves the rung to others",
                 "[quarantine]") {
  for (int death = 0; death < 2; ++death) {
    const int status = in_child([&] {
      std::atomic<unsigned> inside{0};
      fake().binary.on_build = [&] {
        if (++inside == 2) _exit(9);
        while (true) pause();
      };
      const std::string path = overlay.string();
      kiln_loader_options options = {};
      options.size = sizeof(options);
      kiln_loader_use_overlay(&options, path.c_str(), 0);
      const FakeLoad load(pack, KILN_LOAD_NO_BINARY, "r", nullptr, &options);
      const auto ask = [&](const char *program) {
        kiln_program *loaded = nullptr;
        kiln_load(load.loader, program, nullptr, 0, &loaded, nullptr, nullptr);
      };
      std::thread other(ask, "p");
      ask("q");
      other.join();
    });
    CHECK(WEXITSTATUS(status) == 9);
  }
  for (const std::string &name : names_in(overlay, "e-")) fs::remove(overlay / name);
  for (const char *const program : {"p", "q"}) {
    CHECK(Start(pack, overlay, 0, program).load.reason(KILN_RUNG_EXACT) == kDied);
  }
  CHECK(Start(pack, overlay, 0, "r").load.rung() == KILN_RUNG_EXACT);
}

TEST_CASE_METHOD(OverlayFixture, "deaths go down the ladder until something works",
                 "[quarantine]") {
  for (int i = 0; i < 2; ++i) dies_at_start(pack, overlay);  // exact
  for (int i = 0; i < 3; ++i) dies_at_start(pack, overlay);  // IL
  {
    const Start third(pack, overlay);
    CHECK(third.load.reason(KILN_RUNG_IL) == kDied);
    CHECK(third.load.rung() == KILN_RUNG_SOURCE);
  }
  TemporaryFolder fresh;
  overlay = fresh.path();
  for (int i = 0; i < 2 + 3 + 3; ++i) dies_at_start(pack, overlay);
  {
    const Start passed_over(pack, overlay);
    CHECK(passed_over.load.status == KILN_ERROR_NO_RUNG);
    CHECK(passed_over.load.reason(KILN_RUNG_SOURCE) == kDied);
  }
  CHECK(Start(pack, overlay).load.rung() == KILN_RUNG_SOURCE);
}

TEST_CASE_METHOD(OverlayFixture, "interrupted compilations leave every program loadable",
                 "[quarantine]") {
  for (const char *const program : {"p", "q"}) {
    for (int i = 0; i < 2; ++i) dies_at_start(base, overlay, program, KILN_LOAD_NO_IL);
  }
  for (const char *const program : {"p", "q", "r"}) {
    CHECK(Start(base, overlay, KILN_LOAD_NO_IL, program).load.rung() == KILN_RUNG_SOURCE);
  }
}

TEST_CASE_METHOD(OverlayFixture, "a success ends what was counted against a source",
                 "[quarantine]") {
  constexpr unsigned kFlags = KILN_LOAD_NO_IL | KILN_LOAD_NO_OVERLAY;
  for (int i = 0; i < 3; ++i) dies_at_start(base, overlay, "p", kFlags);
  CHECK(Start(base, overlay, kFlags).load.status == KILN_ERROR_NO_RUNG);
  for (int i = 0; i < 3; ++i) {
    CHECK(Start(base, overlay, kFlags).load.rung() == KILN_RUNG_SOURCE);
  }
}

TEST_CASE_METHOD(OverlayFixture, "the last rung is tried again at growing distances",
                 "[quarantine]") {
  std::string starts;
  for (int i = 0; i < 40; ++i) {
    const int status = in_child([&] {
      fake().source.on_build = [] { _exit(9); };
      const Start start(base, overlay, KILN_LOAD_NO_IL);
    });
    starts += WEXITSTATUS(status) == 9 ? 'x' : '.';
  }
  CHECK(starts == "xxx.x..x....x........x................x.");
}

TEST_CASE_METHOD(OverlayFixture, "a driver that died when asked for its binary is not asked again",
                 "[quarantine]") {
  const auto die = [] { _exit(9); };
  const auto dies_when_asked = [&](const char *program) {
    const int status = in_child([&] {
      fake().il.on_asked = die;
      const Start start(base, overlay, 0, program);
    });
    CHECK(WEXITSTATUS(status) == 9);
  };
  for (int i = 0; i < 2; ++i) dies_when_asked("p");
  constexpr char kNotAsked[] =
      "the driver's binary was not stored in the overlay: the driver died or hung when it was "
      "asked for a binary";
  {
    const Start next(base, overlay);
    CHECK(next.load.rung() == KILN_RUNG_IL);
    CHECK(next.notices.text(KILN_NOTICE_DEATH) == "an earlier process ended inside the driver");
    CHECK(next.notices.text(KILN_NOTICE_NOT_STORED) == kNotAsked);
  }
  dies_when_asked("q");  // with that it are three deaths over two programs, and no answer
  const Start third(base, overlay, 0, "r");
  CHECK(third.load.rung() == KILN_RUNG_IL);
  CHECK(third.notices.text(KILN_NOTICE_NOT_STORED) == kNotAsked);
}

TEST_CASE_METHOD(OverlayFixture, "another driver starts without the old one's quarantine",
                 "[quarantine]") {
  for (int i = 0; i < 3; ++i) dies_at_start(base, overlay);
  fake().driver_version = "7.2";
  const Start updated(base, overlay);
  CHECK(updated.load.rung() == KILN_RUNG_IL);
  CHECK_FALSE(updated.notices.has(KILN_NOTICE_DEATH));
  fake().driver_version = "7.1";
  CHECK(Start(base, overlay).load.reason(KILN_RUNG_IL) == kDied);
}

TEST_CASE_METHOD(OverlayFixture, "a refusal in good order is no death, and is tried again",
                 "[quarantine]") {
  fake().binary.build_code = CL_INVALID_BINARY;
  { CHECK(Start(pack, overlay, KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE).load.program == nullptr); }
  fake().binary.build_code = CL_SUCCESS;
  const Start next(pack, overlay);
  CHECK_FALSE(next.notices.has(KILN_NOTICE_DEATH));
  CHECK(next.load.rung() == KILN_RUNG_EXACT);
}

TEST_CASE_METHOD(OverlayFixture,
                 "a blob that is refused once and kills later is seen to have killed",
                 "[quarantine]") {
  fake().binary.build_code = CL_OUT_OF_RESOURCES;
  { CHECK(Start(pack, overlay, KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE).load.program == nullptr); }
  for (int i = 0; i < 2; ++i) dies_at_start(pack, overlay);
  CHECK(Start(pack, overlay).load.reason(KILN_RUNG_EXACT) == kDied);
}

TEST_CASE_METHOD(OverlayFixture,
                 "a rung on which the driver has taken anything is never out of use",
                 "[quarantine]") {
  { CHECK(Start(pack, overlay, 0, "r").load.rung() == KILN_RUNG_EXACT); }
  for (const char *const program : {"p", "p"}) dies_at_start(pack, overlay, program);
  CHECK(Start(pack, overlay, 0, "p").load.reason(KILN_RUNG_EXACT) == kDied);
  CHECK(Start(pack, overlay, 0, "q").load.rung() == KILN_RUNG_EXACT);
  CHECK(Start(pack, overlay, 0, "r").load.rung() == KILN_RUNG_EXACT);
}

TEST_CASE_METHOD(OverlayFixture, "clearing after a death ends the quarantine before it begins",
                 "[quarantine]") {
  dies_at_start(pack, overlay);
  REQUIRE(kiln_overlay_clear(overlay.c_str(), nullptr) == KILN_OK);
  CHECK(names_in(overlay, "").empty());
  CHECK(Start(pack, overlay).load.rung() == KILN_RUNG_EXACT);
}

TEST_CASE_METHOD(OverlayFixture, "a silent recompilation is reported, remembered and healed",
                 "[quarantine]") {
  fake().binary.binary = "newly compiled";
  {
    const Start first(pack, overlay);
    CHECK(first.load.rung() == KILN_RUNG_EXACT);
    CHECK(first.load.json().find("\"recompiled\": true") != std::string::npos);
    CHECK(first.notices.has(KILN_NOTICE_RECOMPILED));
    CHECK(first.notices.has(KILN_NOTICE_STORED));
  }
  {
    const Start second(pack, overlay);
    CHECK(second.load.rung() == KILN_RUNG_OVERLAY);
    CHECK(second.load.json().find("\"recompiled\": false") != std::string::npos);
    CHECK_FALSE(second.notices.has(KILN_NOTICE_STORED));
  }
  for (const std::string &name : names_in(overlay, "e-")) fs::remove(overlay / name);
  fake().binary.binary = "the binary";  // not asked: the answer is remembered
  const Start third(pack, overlay);
  CHECK(third.load.rung() == KILN_RUNG_EXACT);
  CHECK(third.load.json().find("\"recompiled\": true") != std::string::npos);
}

TEST_CASE_METHOD(OverlayFixture, "a driver that never gives back what it got is healed once",
                 "[quarantine]") {
  int round = 0;
  unsigned stored = 0;
  fake().binary.on_build = [&] { fake().binary.binary = "binary " + std::to_string(round); };
  for (round = 0; round < 5; ++round) {
    const Start start(pack, overlay);
    stored += start.notices.has(KILN_NOTICE_STORED) ? 1 : 0;
    CHECK(start.load.json().find("\"recompiled\": true") != std::string::npos);
  }
  CHECK(stored == 2);  // one for the pack's binary, one for the overlay's
  // Earlier versions wrote that down as 5, the number of a binary that the driver gave.
  CHECK(replace_event(overlay, 12, 5) == 1);
  CHECK_FALSE(Start(pack, overlay).notices.has(KILN_NOTICE_STORED));
}

TEST_CASE_METHOD(OverlayFixture, "a marker's number is none that the journal has", "[quarantine]") {
  constexpr std::uint64_t kDriver = 7;
  constexpr std::size_t kDeaths = 1500;  // of the 32,768 numbers that there are
  runtime::Folder opened;
  REQUIRE(runtime::Folder::open(overlay.c_str(), &opened) == 0);
  std::string journal(runtime::kJournalHeaderSize + kDeaths * runtime::kRecordSize, '\0');
  auto *const bytes = reinterpret_cast<std::uint8_t *>(&journal[0]);
  runtime::encode_journal_header("a driver", bytes);
  for (std::size_t i = 0; i < kDeaths; ++i) {
    const auto number = static_cast<std::uint16_t>(2 * i + 1);
    runtime::encode_record({i, runtime::Event::died, KILN_RUNG_EXACT, number},
                           bytes + runtime::kJournalHeaderSize + i * runtime::kRecordSize);
  }
  std::ofstream(overlay / (runtime::kJournalPrefix + packs::hex64(kDriver)), std::ios::binary)
      << journal;
  for (int i = 0; i < 200; ++i) {
    std::vector<runtime::Death> deaths;
    runtime::Markers markers;
    markers.open(&opened, 0, kDriver, "a driver", &deaths);
    std::unique_ptr<runtime::Marker> marker;
    REQUIRE(markers.attempt({kDeaths + 1, KILN_RUNG_EXACT}, 0, true, &marker).ok());
    const auto names = names_in(overlay, runtime::kMarkerPrefix);
    REQUIRE(names.size() == 1);
    const auto number =
        static_cast<std::uint16_t>(packs::xxh3(names[0].data(), names[0].size()) | 1);
    CHECK(number >= 2 * kDeaths);
  }
}

TEST_CASE_METHOD(OverlayFixture, "a damaged journal is no journal, whatever is left of it",
                 "[quarantine]") {
  for (int i = 0; i < 2; ++i) dies_at_start(pack, overlay);
  { const Start start(pack, overlay); }
  const auto names = names_in(overlay, "d-");
  REQUIRE(names.size() == 1);
  const std::string good = contents_of(overlay / names[0]);
  for (std::size_t size = 0; size < good.size(); ++size) {
    std::ofstream(overlay / names[0], std::ios::binary) << good.substr(0, size);
    for (const std::string &name : names_in(overlay, "e-")) fs::remove(overlay / name);
    const Start start(pack, overlay);
    CHECK(start.load.status == KILN_OK);
    // What died is known as long as its record is whole.
    const bool known = start.load.reason(KILN_RUNG_EXACT) == kDied;
    CHECK((known || start.load.rung() == KILN_RUNG_EXACT));
    if (size < 256) CHECK_FALSE(known);
  }
  std::ofstream(overlay / names[0], std::ios::binary) << std::string(100'000, '\x7f');
  CHECK(Start(pack, overlay, KILN_LOAD_NO_IL).load.status == KILN_OK);
  // Started anew, with whole records.
  CHECK(fs::file_size(overlay / names[0]) % 16 == 0);
  CHECK(fs::file_size(overlay / names[0]) < 1000);
}

TEST_CASE_METHOD(OverlayFixture, "what the compiler refused is remembered with its log",
                 "[quarantine]") {
  fake().il.build_code = CL_BUILD_PROGRAM_FAILURE;
  fake().il.log = "line 3: what is this?";
  const auto first_log = [](const Start &start) {
    return start.load.json().find("\"line 3: what is this?") != std::string::npos;
  };
  {
    const Start first(base, overlay);
    CHECK(first.load.reason(KILN_RUNG_IL).find("failed: clBuildProgram") == 0);
    CHECK(first_log(first));
  }
  for (const std::string &name : names_in(overlay, "e-")) fs::remove(overlay / name);
  const unsigned before = fake().il.builds;
  std::string starts;
  for (int i = 0; i < 30; ++i) {
    const unsigned builds = fake().il.builds;
    const Start next(base, overlay, KILN_LOAD_NO_OVERLAY);
    CHECK(next.load.rung() == KILN_RUNG_SOURCE);
    CHECK(first_log(next));
    starts += fake().il.builds == builds ? '.' : 'x';
  }
  CHECK(starts == "........x................x....");
  CHECK(fake().il.builds == before + 2);
  const std::string reason = Start(base, overlay, KILN_LOAD_NO_OVERLAY).load.reason(KILN_RUNG_IL);
  CHECK(reason.find("failed: the driver refused the program in an earlier run: clBuildProgram") ==
        0);
  // Another driver is asked.
  fake().driver_version = "7.2";
  fake().il.build_code = CL_SUCCESS;
  CHECK(Start(base, overlay, KILN_LOAD_NO_OVERLAY).load.rung() == KILN_RUNG_IL);
}

TEST_CASE_METHOD(OverlayFixture, "what failed for lack of something else is tried again at once",
                 "[quarantine]") {
  fake().il.build_code = CL_OUT_OF_HOST_MEMORY;
  { CHECK(Start(base, overlay, KILN_LOAD_NO_OVERLAY).load.rung() == KILN_RUNG_SOURCE); }
  fake().il.build_code = CL_SUCCESS;
  CHECK(Start(base, overlay, KILN_LOAD_NO_OVERLAY).load.rung() == KILN_RUNG_IL);
}

TEST_CASE_METHOD(OverlayFixture, "a driver that dies when asked for a binary keeps its exact rung",
                 "[quarantine]") {
  for (const char *const program : {"p", "p", "q"}) {
    const int status = in_child([&] {
      fake().binary.on_asked = [] { _exit(9); };
      const Start start(pack, overlay, 0, program);
    });
    CHECK(WEXITSTATUS(status) == 9);
  }
  fake().binary.on_asked = [] { FAIL("asked again"); };
  for (const char *const program : {"p", "q", "r"}) {
    CHECK(Start(pack, overlay, 0, program).load.rung() == KILN_RUNG_EXACT);
  }
}

// SPDX-License-Identifier: Apache-2.0
// Which rung a load would try first, said without the driver; what a load gives if the first
// variant fails.
#include "tests/runtime/overlay/overlay_fixture.hpp"

using namespace kiln;
using namespace kiln::test;

TEST_CASE_METHOD(OverlayFixture,
                 "a dry run says which rung a load would try first and touches nothing",
                 "[load][fork]") {
  const auto dry_run = [&](const packs::Bytes &bytes, unsigned flags, kiln_status wanted) {
    const std::string path = overlay.string();
    kiln_loader_options options = {};
    options.size = sizeof(options);
    kiln_loader_use_overlay(&options, path.c_str(), 0);
    kiln_device *device = fake_device();
    kiln_pack *pack_on_device = nullptr;
    kiln_loader *loader = nullptr;
    kiln_report *report = nullptr;
    REQUIRE(kiln_pack_open_memory(bytes.data(), bytes.size(), &pack_on_device, nullptr) == KILN_OK);
    REQUIRE(kiln_loader_create(device, pack_on_device, &options, &loader, nullptr) == KILN_OK);
    CHECK(kiln_load_dry_run(loader, "p", nullptr, flags, &report, nullptr) == wanted);
    const kiln_rung rung = kiln_report_rung(report);
    kiln_report_release(report);
    kiln_loader_release(loader);
    kiln_pack_release(pack_on_device);
    kiln_device_release(device);
    return rung;
  };
  const auto asked = [&] { return fake().binary.builds + fake().il.builds + fake().source.builds; };
  CHECK(dry_run(pack, 0, KILN_OK) == KILN_RUNG_EXACT);
  CHECK(dry_run(base, 0, KILN_OK) == KILN_RUNG_IL);
  CHECK(dry_run(base, KILN_LOAD_NO_IL, KILN_OK) == KILN_RUNG_SOURCE);
  CHECK(dry_run(base, KILN_LOAD_NO_IL | KILN_LOAD_NO_SOURCE, KILN_ERROR_NO_RUNG) ==
        KILN_RUNG_ERROR);
  CHECK(asked() == 0);
  CHECK(names_in(overlay, "").empty());
  for (int i = 0; i < 2; ++i) dies_at_start(pack, overlay);
  CHECK(dry_run(pack, 0, KILN_OK) == KILN_RUNG_IL);
  const std::vector<std::string> names = names_in(overlay, "d-");
  REQUIRE(names.size() == 1);
  const std::string journal = contents_of(overlay / names[0]);
  for (int i = 0; i < 20; ++i) CHECK(dry_run(pack, 0, KILN_OK) == KILN_RUNG_IL);
  CHECK(contents_of(overlay / names[0]) == journal);
}

TEST_CASE("a dry prefetch foresees every program, as often as it is asked", "[load]") {
  reset_fake();
  packs::Contents contents = fake_contents();
  packs::Variant other = contents.programs[0].variants[0];
  other.hash[0] = 2;
  contents.programs.push_back({"q", "", {other}});
  kiln_device *device = fake_device();
  contents.targets[0].profile = kiln_device_info(device, "profile");
  kiln_device_release(device);
  contents.targets[0].binaries[0].finish.microseconds = 1500;
  const FakeLoad loaded(written(contents));
  std::vector<std::string> seen;
  const auto add = [](const kiln_progress *progress, void *user) {
    static_cast<std::vector<std::string> *>(user)->push_back(
        std::string(progress->program) + " " +
        packs::decimal(static_cast<std::uint64_t>(kiln_report_rung(progress->report))) + " " +
        std::to_string(kiln_report_estimate(progress->report)));
    return 0;
  };
  const unsigned builds = fake().binary.builds + fake().il.builds + fake().source.builds;
  const auto foreseen = [&](unsigned flags) {
    seen.clear();
    CHECK(kiln_prefetch(loaded.loader, nullptr, 0, flags | KILN_PREFETCH_DRY_RUN, add, &seen,
                        nullptr) == KILN_OK);
    return seen;
  };
  for (int i = 0; i < 2; ++i) {
    CHECK(foreseen(0) == std::vector<std::string>{"p 1 0.000000", "q 3 -1.000000"});
  }
  CHECK(foreseen(KILN_LOAD_NO_BINARY)[0] == "p 3 1.500000");
  CHECK(foreseen(KILN_LOAD_REQUIRE_EXACT)[1] == "q 5 -1.000000");
  CHECK(fake().binary.builds + fake().il.builds + fake().source.builds == builds);
}

TEST_CASE_METHOD(OverlayFixture, "where a variant fails on every rung the next best is loaded",
                 "[load]") {
  packs::Contents contents = fake_contents();
  packs::Variant other = contents.programs[0].variants[0];
  contents.programs[0].variants[0].source.reset();
  contents.programs[0].variants[0].il64.reset();
  contents.targets.clear();
  other.name = "w";
  other.hash[0] = 2;
  contents.programs[0].variants.push_back(other);
  const packs::Bytes bytes = written(contents);
  const Start start(bytes, overlay);
  CHECK(start.load.status == KILN_OK);
  CHECK(std::string(kiln_program_variant(start.load.program)) == "w");
  CHECK(std::string(kiln_report_choice(start.load.report, nullptr)) ==
        "first by name; no rung could load v");
  const FakeLoad named(bytes, 0, "p", "v");
  CHECK(named.status == KILN_ERROR_NO_RUNG);
}

// SPDX-License-Identifier: Apache-2.0
// Prefetches many programs, one of which kills the driver.
#include <nlohmann/json.hpp>

#include "kiln/kiln.hpp"
#include "tests/driver/ladder.hpp"

using namespace kiln;
using namespace kiln::test;
using builder::ProcessEnd;
using nlohmann::json;

namespace {

// Three programs with binaries on the machine's device.
const std::string &three_programs() {
  static const std::string path = [] {
    packs::Contents contents;
    for (const char *const name : {"one", "two", "three"}) {
      contents.programs.push_back({name, "", {triple_variant(std::string("kiln_") + name)}});
    }
    machine().rewrite("");
    const std::string built = build_pack(machine().driver(), contents);
    const std::string kept = machine().driver().path("three.kiln");
    std::filesystem::rename(built, kept);
    return kept;
  }();
  return path;
}

int count_progress(const kiln_progress *progress, void *user) {
  json one = {{"status", progress->status},
              {"rung", kiln_report_rung(progress->report)},
              {"json", kiln_report_json(progress->report)}};
  (*static_cast<json *>(user))[progress->program] = one;
  return 0;
}

// Program by program, what a start that prefetches all got.
json prefetch(const std::string &pack, const std::string &overlay) {
  auto opencl = OpenCL::open();
  auto device = opencl->device(0);
  LoaderOptions options;
  options.use_overlay(overlay.c_str());
  auto opened = Pack::open_file(pack);
  auto loader = Loader::create(*device, *opened, options);
  json programs = json::object();
  if (!loader) return programs;
  return loader->prefetch(count_progress, &programs) ? programs : json::object();
}

builder::ChildResult prefetch_start(const std::string &faults, const std::string &overlay) {
  const std::string pack = three_programs();
  machine().rewrite(faults);
  return machine().driver().run([&] { return prefetch(pack, overlay); });
}

}  // namespace

TEST_CASE("a prefetch in which the driver died prefetches the others and reports the one") {
  KILN_NEEDS_POCL();
  const struct {
    const char *form;
    int deaths;
    kiln_status status;  // of the one
  } rows[] = {{"form = \"binary\"\n", 2, KILN_OK},
              {"", 2 + 3, KILN_ERROR_NO_RUNG}};  // the binary, then the source
  for (const auto &row : rows) {
    const std::string overlay = machine().new_overlay();
    const std::string death =
        fault("clBuildProgram", "segv", row.form + std::string("text = \"kiln_two\"\n"));
    for (int i = 0; i < row.deaths; ++i) {
      CHECK(prefetch_start(death, overlay).end == ProcessEnd::signalled);
    }
    const auto next = prefetch_start(death, overlay);
    INFO(next.reason() << next.answer.dump());
    REQUIRE(next.ok());
    REQUIRE(next.answer.size() == 3);
    for (const char *const well : {"one", "three"}) {
      CHECK(next.answer[well]["status"] == KILN_OK);
      CHECK(next.answer[well]["rung"] == KILN_RUNG_EXACT);
    }
    CHECK(next.answer["two"]["status"] == row.status);
    const json report = json::parse(next.answer["two"]["json"].get<std::string>());
    CHECK(report["rungs"][1]["outcome"] == "quarantined");
    CHECK(report["rung"] == (row.status == KILN_OK ? "source" : "error"));
  }
}

// SPDX-License-Identifier: Apache-2.0
#include "builder/under_layer/record_summary.hpp"

#include "builder/process/temporary_folder.hpp"
#include "tests/support/catch.hpp"

namespace kiln::builder {
namespace {

std::string line(const std::string &program, const std::string &reason,
                 const std::string &recorded = "no") {
  return R"({"process": "1", "outcome": "passed", "program": ")" + program + R"(", "reason": ")" +
         reason + R"(", "recorded": ")" + recorded + "\"}\n";
}

const std::string kStarted = R"({"process": "1", "outcome": "started"})"
                             "\n";
const std::string kOwn = R"({"process": "1", "outcome": "own_binary", "bytes": 3})"
                         "\n";

}  // namespace

TEST_CASE("a recording counts each program once", "[record_summary]") {
  CHECK(recording_text(kStarted, "s", {}) == "0 programs recorded in s");
  CHECK(recording_text(line("a", "it is recorded", "yes") + line("a", "it is recorded", "yes"), "s",
                       {}) == "1 program recorded in s");
  CHECK(recording_text(line("a", "it is recorded", "yes"), "", {}) == "1 program recorded");
  CHECK(recording_text(line("a", "it is recorded", "yes") + line("b", "it is recorded", "yes"), "s",
                       {}) == "2 programs recorded in s");
}

TEST_CASE("programs from an application's own cache are reported, with the known folders",
          "[record_summary]") {
  CHECK(recording_text(kOwn, "s", {}) ==
        "0 programs recorded in s; 1 program loaded from the application's own binaries, not "
        "recorded: empty or switch off its cache, or its overlay if it loads by Kiln, and record "
        "again");
  CHECK(recording_text(kOwn + kOwn, "s", {"/h/a", "/h/b"}) ==
        "0 programs recorded in s; 2 programs loaded from the application's own binaries, not "
        "recorded: empty or switch off its cache (/h/a, /h/b), or its overlay if it loads by Kiln, "
        "and record again");
}

TEST_CASE("programs that cannot be recorded are reported with the reasons, others are not",
          "[record_summary]") {
  CHECK(recording_text(line("a", "A") + line("b", "A") + line("b", "A") + line("c", "B") +
                           line("d", "in other words", "needless"),
                       "s", {}) ==
        "0 programs recorded in s; 3 programs cannot be recorded: A (2), B (1)");
  CHECK(recording_text(line("a", "A") + line("b", "it is not recorded: B") + line("c", "C"), "s",
                       {}) ==
        "0 programs recorded in s; 3 programs cannot be recorded: A (1), B (1), and more: --report "
        "FILE lists all");
}

TEST_CASE("a report without lines says that the layer was not reached", "[record_summary]") {
  const std::string none =
      "nothing was recorded: the application did not reach Kiln's layer: it uses no OpenCL, or "
      "brings a driver or an ICD loader of its own; see 'kiln doctor'";
  CHECK(recording_text("", "s", {}) == none);
  CHECK(recording_text("not JSON\n[]\n", "s", {}) == none);
}

TEST_CASE("only folders that exist are named", "[record_summary]") {
  const auto folder = TemporaryFolder::make();
  REQUIRE(folder.ok());
  CHECK(own_cache_folders(folder->path()).empty());
  std::filesystem::create_directories(folder->path() + "/.cache/hashcat");
  CHECK(own_cache_folders(folder->path()) ==
        std::vector<std::string>{folder->path() + "/.cache/hashcat"});
}

}  // namespace kiln::builder

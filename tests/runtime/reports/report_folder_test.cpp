// SPDX-License-Identifier: Apache-2.0
// Report files: one for each process, whole lines, bounded, and without names of folders.
#include "runtime/reports/report_folder.hpp"

#include <algorithm>
#include <functional>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kiln/report_folder.h"
#include "tests/runtime/fake/load.hpp"

using namespace kiln::test;
using kiln::runtime::ReportFolder;
using kiln::runtime::without_folders;

namespace {

namespace fs = std::filesystem;

// The folder's files by name, which is by age.
std::vector<fs::path> reports_in(const fs::path &folder) {
  std::vector<fs::path> files;
  for (const auto &entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string text_of(const fs::path &file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Runs `use` in a process of its own.
void in_child(const std::function<bool()> &use) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(use() ? 0 : 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

void limit_files(rlim_t bytes) {
  const rlimit limit{bytes, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
}

}  // namespace

TEST_CASE("each process appends whole lines to a report file of its own") {
  const TemporaryFolder folder;
  const fs::path made = folder.path() / "reports";
  ReportFolder reports;
  REQUIRE(reports.open(made.c_str()) == 0);
  CHECK(reports_in(made).empty());
  CHECK(reports.append("one") == 0);
  CHECK(reports.append("two") == 0);
  in_child([&] { return reports.append("of a child") == 0; });
  CHECK(reports.append("three") == 0);
  const auto files = reports_in(made);
  REQUIRE(files.size() == 2);
  CHECK(text_of(files[0]) == "one\ntwo\nthree\n");
  CHECK(text_of(files[1]) == "of a child\n");
  CHECK(files[0].extension() == ".jsonl");
}

TEST_CASE("report files are bounded in number and size, and the oldest are removed first") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "kiln-notes.txt") << "somebody's";
  ReportFolder reports;
  REQUIRE(reports.open(folder.path().c_str()) == 0);
  const std::string half(ReportFolder::kMaxBytes / 2 - 1, 'x');
  for (int i = 0; i < 4; ++i) REQUIRE(reports.append(half) == 0);
  CHECK(reports_in(folder.path()).size() == 3);
  CHECK(reports.append(std::string(ReportFolder::kMaxBytes, 'x')) == EFBIG);
  const auto first = reports_in(folder.path());
  for (std::size_t i = 0; i < ReportFolder::kMaxFiles - 1; ++i) {
    ReportFolder other;
    REQUIRE(other.open(folder.path().c_str()) == 0);
    REQUIRE(other.append("another start") == 0);
  }
  const auto last = reports_in(folder.path());
  CHECK(last.size() == ReportFolder::kMaxFiles + 1);  // with the other file
  CHECK(!fs::exists(first[0]));
  CHECK(fs::exists(first[1]));
  CHECK(fs::exists(folder.path() / "kiln-notes.txt"));
}

TEST_CASE("a report file that was removed is begun anew, and is the newest whatever the clock") {
  const TemporaryFolder folder;
  const fs::path future = folder.path() / "kiln-ffffffff00000000-0000000000000000.jsonl";
  std::ofstream(future) << "{}\n";
  ReportFolder reports;
  REQUIRE(reports.open(folder.path().c_str()) == 0);
  REQUIRE(reports.append("one") == 0);
  const auto before = reports_in(folder.path());
  REQUIRE(before.size() == 2);
  CHECK(before[0] == future);
  fs::remove(before[1]);
  REQUIRE(reports.append("two") == 0);
  CHECK(text_of(reports_in(folder.path()).back()) == "two\n");
}

TEST_CASE("on a full disk report files keep whole lines, and push out no others") {
  const TemporaryFolder folder;
  in_child([&] {
    ReportFolder reports;
    if (reports.open(folder.path().c_str()) != 0) return false;
    limit_files(25);
    const std::string line(9, 'x');
    return reports.append(line) == 0 && reports.append(line) == 0 && reports.append(line) != 0;
  });
  const auto files = reports_in(folder.path());
  REQUIRE(files.size() == 1);
  CHECK(text_of(files[0]) == "xxxxxxxxx\nxxxxxxxxx\n");
  in_child([&] {
    ReportFolder reports;
    if (reports.open(folder.path().c_str()) != 0) return false;
    limit_files(0);
    return reports.append("one") != 0 && reports.append("two") != 0;
  });
  CHECK(reports_in(folder.path()) == files);
}

TEST_CASE("reports name files, but no folders") {
  const auto [text, shown] = GENERATE(table<std::string, std::string>({
      {"/home/bob/bin/app", "app"},
      {"app", "app"},
      {"no overlay: /home/bob smith/cache: Permission denied",
       "no overlay: cache: Permission denied"},
      {"'/home/bob/a', and /home/bob/b: gone", "'b: gone"},
      {"needs cl_khr_fp16 and/or N/A", "needs cl_khr_fp16 and/or N/A"},
      {"at /", "at "},
      {"", ""},
  }));
  CHECK(without_folders(text) == shown);
}

TEST_CASE("every load of a process appends its report, until that is ended") {
  reset_fake();
  const TemporaryFolder folder;
  REQUIRE(kiln_report_folder(folder.path().c_str(), nullptr) == KILN_OK);
  { const FakeLoad load(written(fake_contents())); }
  kiln_error error{};
  REQUIRE(kiln_report_folder(nullptr, &error) == KILN_OK);
  { const FakeLoad load(written(fake_contents())); }
  const auto files = reports_in(folder.path());
  REQUIRE(files.size() == 1);
  const std::string text = text_of(files[0]);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
  CHECK(text.find("\"outcome\": \"started\", \"application\": \"ladder_test\"}\n{\"process\": ") !=
        std::string::npos);
  CHECK(text.find("\"schema\": 1, \"program\": \"p\", \"variant\": \"v\", \"choice\": null") !=
        std::string::npos);
  CHECK(text.find("\"key_hash\": \"") != std::string::npos);
  CHECK(kiln_report_folder((folder.path() / "none" / "none").c_str(), &error) ==
        KILN_ERROR_PACK_IO);
  CHECK(std::string(error.message) ==
        (folder.path() / "none" / "none").string() + ": No such file or directory");
}

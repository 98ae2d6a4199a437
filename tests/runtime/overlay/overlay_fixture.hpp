// SPDX-License-Identifier: Apache-2.0
// Starts of an application with an overlay, against the fake driver.
#pragma once

#ifndef _WIN32
#include <sys/wait.h>
#endif
#include <unistd.h>

#include <mutex>

#include "tests/runtime/fake/load.hpp"

namespace kiln::test {

struct Notices {
  struct One {
    kiln_notice_kind kind;
    kiln_rung rung;
    std::string text;
  };
  std::vector<One> all;
  std::mutex mutex;  // guards `all` while threads load

  static void collect(const kiln_notice *notice, void *user) {
    auto *notices = static_cast<Notices *>(user);
    const std::lock_guard<std::mutex> lock(notices->mutex);
    notices->all.push_back({notice->kind, notice->rung, notice->text});
  }
  std::string text(kiln_notice_kind kind) const {
    for (const One &one : all) {
      if (one.kind == kind) return one.text.empty() ? "(no text)" : one.text;
    }
    return "-";
  }
  bool has(kiln_notice_kind kind) const { return text(kind) != "-"; }
};

// One process's start: opens the overlay, loads program p.
class Start {
 public:
  explicit Start(const packs::Bytes &pack, const std::filesystem::path &overlay, unsigned flags = 0,
                 const char *program = "p", std::uint32_t deadline = 0, std::uint64_t limit = 0)
      : folder_(overlay.string()), load(pack, flags, program, nullptr, fill(deadline, limit)) {}

 private:
  const kiln_loader_options *fill(std::uint32_t deadline, std::uint64_t limit) {
    options_.size = sizeof(options_);
    kiln_loader_use_overlay(&options_, folder_.c_str(), limit);
    options_.deadline_milliseconds = deadline;
    options_.notice = Notices::collect;
    options_.notice_user = &notices;
    return &options_;
  }

  std::string folder_;
  kiln_loader_options options_ = {};

 public:
  Notices notices;
  FakeLoad load;
};

#ifdef _WIN32
// Cases with the tag [fork] are compiled there, but not run.
#define WEXITSTATUS(status) (status)
template <typename Work>
int in_child(Work) {
  FAIL("no process is forked here");
  return -1;
}
#else
// Runs `work` in a forked process; gives its exit status as waitpid does.
template <typename Work>
int in_child(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}
#endif

// A start in a process that the driver ends inside clBuildProgram, whatever it is given.
inline void dies_at_start(const packs::Bytes &pack, const std::filesystem::path &overlay,
                          const char *program = "p", unsigned flags = 0) {
  const int status = in_child([&] {
    fake().binary.on_build = fake().il.on_build = fake().source.on_build = [] { _exit(9); };
    const Start start(pack, overlay, flags, program);
  });
  CHECK(WEXITSTATUS(status) == 9);
}

// Programs p, q and r, each with a variant of its own.
inline packs::Contents three_programs() {
  packs::Contents contents = fake_contents();
  for (const char *name : {"q", "r"}) {
    packs::Program program = contents.programs[0];
    program.name = name;
    packs::Variant &variant = program.variants[0];
    variant.hash[0] = static_cast<std::uint8_t>(name[0]);
    variant.source = packs::BlobSource(bytes_of(std::string("the source of ") + name));
    variant.il64 = packs::BlobSource(bytes_of(std::string("the IL of ") + name));
    contents.programs.push_back(program);
    contents.targets[0].binaries.push_back(
        {variant.hash,
         packs::BlobSource(bytes_of(std::string("the binary of ") + name)),
         "",
         {{64, 1, 0, 0}}});
  }
  return contents;
}

// The base pack's part: no target.
inline packs::Contents without_targets(packs::Contents contents) {
  contents.targets.clear();
  return contents;
}

// A machine with a fresh fake driver and a folder for its overlay.
struct OverlayFixture {
  OverlayFixture() { reset_fake(); }
  ~OverlayFixture() { CHECK(fake().live == 0); }

  TemporaryFolder folder;
  std::filesystem::path overlay = folder.path() / "overlay";
  packs::Bytes pack = written(three_programs());
  packs::Bytes base = written(without_targets(three_programs()));
};

// Names in a folder that begin with `start`, sorted.
inline std::vector<std::string> names_in(const std::filesystem::path &folder,
                                         const std::string &start) {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, start.size(), start) == 0) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline std::string contents_of(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace kiln::test

// SPDX-License-Identifier: Apache-2.0
// A machine whose driver misbehaves as a test says, with packs of one program and a new overlay
// folder for each case.
#pragma once

#include <algorithm>

#include <sys/stat.h>

#include "kiln/packs/writer.hpp"
#include "tests/driver/application.hpp"
#include "tests/support/catch.hpp"

namespace kiln::test {

inline bool holds(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

inline std::string fault(const std::string &at, const std::string &what,
                         const std::string &rest = "") {
  return "[[fault]]\nat = \"" + at + "\"\ndo = \"" + what + "\"\n" + rest + "\n";
}

inline StartOptions with(const std::string &overlay, unsigned flags = 0) {
  StartOptions options;
  options.overlay = overlay;
  options.flags = flags;
  return options;
}

// Of each file of a folder, and of the folder itself: size and time of the last change. A journal
// grows at each start at which something is passed over for the time being.
inline std::string snapshot(const std::string &folder, bool with_journal = true) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string &path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return;
    lines.push_back(path + " " + std::to_string(info.st_size) + " " +
                    std::to_string(info.st_mtim.tv_sec) + "." +
                    std::to_string(info.st_mtim.tv_nsec));
  };
  add(folder);
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    const bool journal = entry.path().filename().string().rfind("d-", 0) == 0;
    if (with_journal || !journal) add(entry.path().string());
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string &line : lines) text += line + "\n";
  return text;
}

// Removes what the overlay holds of programs; what is known of drivers stays.
inline void forget_binaries(const std::string &overlay) {
  std::vector<std::filesystem::path> entries;
  for (const auto &entry : std::filesystem::directory_iterator(overlay)) {
    if (entry.path().filename().string().rfind("e-", 0) == 0) entries.push_back(entry.path());
  }
  for (const auto &entry : entries) std::filesystem::remove(entry);
}

inline std::size_t entries_in(const std::string &overlay) {
  std::size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(overlay)) {
    count += entry.path().filename().string().rfind("e-", 0) == 0 ? 1 : 0;
  }
  return count;
}

// One for each test program: its pack is built once.
class ScriptedMachine {
 public:
  ScriptedMachine()
      : driver_(computing_device(kIl)),
        full_(build_pack(driver_, triple_program())),
        base_(driver_.path("base.kiln")) {
    REQUIRE(packs::write_pack(triple_program(), base_).ok());
  }

  const ScriptedDriver &driver() const { return driver_; }
  const std::string &full() const { return full_; }  // binary, IL and source
  const std::string &base() const { return base_; }  // IL and source

  std::string new_overlay() { return driver_.path("overlay-" + std::to_string(++overlays_)); }

  // `rest` ends the device's table, with rules for binaries and faults.
  Start start_with(const std::string &rest, const std::string &pack,
                   const StartOptions &options) const {
    rewrite(rest);
    return start(driver_, pack, options);
  }
  void rewrite(const std::string &rest) const { driver_.rewrite(computing_device(kIl + rest)); }

 private:
  static inline const std::string kIl = "il = \"SPIR-V_1.0\"\n";
  ScriptedDriver driver_;
  std::string full_;
  std::string base_;
  unsigned overlays_ = 0;
};

inline ScriptedMachine &machine() {
  static ScriptedMachine made;
  return made;
}

}  // namespace kiln::test

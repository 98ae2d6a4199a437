// SPDX-License-Identifier: Apache-2.0
// Builds of what the layer notes in an overlay, beside `kiln serve` and its application.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace kiln::builder {

class BackgroundBuild {
 public:
  // `shared`: the folder is one that users share, and the overlay this user's in it.
  BackgroundBuild(const std::string &folder, bool is_shared);

  // Starts `kiln overlay build` in a session of its own if anything is noted that the last one did
  // not see. The process outlives this one. Whoever waits for all children ends it.
  void look();

  // Returns how many builds have ended, one after another, before they had built a program, when
  // this object was made.
  std::size_t cut_off() const { return cut_off_; }
  // Waits for what look() started, if its end would be this process's: if this is the first process
  // of a container, or if the last build was cut off. Returns earlier when the time is over, or a
  // signal asks this process to end.
  void finish(std::chrono::seconds patience);

 private:
  std::vector<std::string> words_;
  std::string noted_;
  std::filesystem::file_time_type seen_{};  // the newest note at the last start
  std::vector<pid_t> children_;             // started by look()
  std::size_t cut_off_ = 0;
};

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Builds of what the layer notes in an overlay, beside `kiln serve` and its application.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kiln::builder {

class BackgroundBuild {
 public:
  // `shared`: the folder is one that users share, and the overlay this user's in it.
  BackgroundBuild(const std::string &folder, bool is_shared);

  // Starts `kiln overlay build` in a session of its own if anything is noted that the last one did
  // not see. The process outlives this one. Whoever waits for all children ends it.
  void look();

 private:
  std::vector<std::string> words_;
  std::string noted_;
  std::filesystem::file_time_type seen_{};  // the newest note at the last start
};

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// A folder for one test, removed with all that is in it.
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

namespace kiln::test {

class TemporaryFolder {
 public:
  explicit TemporaryFolder(
      const std::filesystem::path &parent = std::filesystem::temp_directory_path()) {
    // One word with lower-case letters: where a macro holds the path, no part of it may be taken
    // for the name of a macro.
    std::random_device random;
    do {
      std::string name = "kiln_test_";
      for (int i = 0; i < 12; ++i) name += static_cast<char>('a' + random() % 26);
      path_ = parent / name;
    } while (!std::filesystem::create_directory(path_));
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  const std::filesystem::path &path() const { return path_; }

  // Writes a file, with the folders above it.
  std::filesystem::path write(const std::filesystem::path &name, std::string_view text) const {
    const std::filesystem::path path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace kiln::test

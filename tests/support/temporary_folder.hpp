// SPDX-License-Identifier: Apache-2.0
// A folder for one test, removed with all that is in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kiln::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    // One word with lower-case letters: where a macro holds the path, no part of it may be taken
    // for the name of a macro.
    std::string pattern = (std::filesystem::temp_directory_path() / "kiln_test_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
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

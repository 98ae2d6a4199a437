// SPDX-License-Identifier: Apache-2.0
// Kiln's paths are texts in UTF-8. The paths of std::filesystem take a plain text for one in
// another encoding on Windows; on POSIX these functions copy the bytes.
#pragma once

#include <filesystem>
#include <string>

namespace kiln::packs {

inline std::filesystem::path to_path(const std::string &text) {
  return std::filesystem::path(std::u8string(text.begin(), text.end()));
}

inline std::string from_path(const std::filesystem::path &path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}  // namespace kiln::packs

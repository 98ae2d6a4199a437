// SPDX-License-Identifier: Apache-2.0
// Files that are read and written whole.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// Returns the path without "." and ".."; unchanged if the file system takes ".." otherwise, since a
// symbolic link stands before it.
std::filesystem::path normal_path(const std::filesystem::path &path);

// Opens a regular file to read it. If it is not open, errno is as after packs::open_at().
std::ifstream open_file(const std::filesystem::path &path);

// Returns the bytes of a regular file, or nothing if it cannot be read: errno is then as after
// packs::open_at().
std::optional<std::string> read_whole_file(const std::filesystem::path &path);

// Writes a temporary file beside `path` and renames it over. Fails with Code::io_error or
// Code::no_space; then nothing is left behind and what stood at `path` is untouched.
Status write_whole_file(const std::string &path, std::string_view bytes);

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Files that are read and written whole.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// Returns the bytes of a file, or nothing if it cannot be read: errno then says why.
std::optional<std::string> read_whole_file(const std::filesystem::path &path);

// Writes a temporary file beside `path` and renames it over. Fails with Code::io_error or
// Code::no_space; then nothing is left behind and what stood at `path` is untouched.
Status write_whole_file(const std::string &path, std::string_view bytes);

}  // namespace kiln::builder

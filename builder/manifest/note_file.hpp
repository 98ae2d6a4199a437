// SPDX-License-Identifier: Apache-2.0
// A file of known-bad notes, such as manifests/known-bad.toml.
#pragma once

#include <filesystem>
#include <string_view>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Reads a file of notes into contents that hold nothing else; parse_known_bad() reads its text, and
// `path` is for errors. Fail with Code::bad_input, with file, line and column.
Result<packs::Contents> read_known_bad(const std::filesystem::path &path);
Result<packs::Contents> parse_known_bad(std::string_view text, const std::filesystem::path &path);

}  // namespace kiln::builder

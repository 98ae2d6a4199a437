// SPDX-License-Identifier: Apache-2.0
// Small output files that appear whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// Writes a temporary file beside `path` and renames it over. Fails with Code::io_error or
// Code::no_space; then nothing is left behind and what stood at `path` is untouched.
Status write_whole_file(const std::string &path, std::string_view bytes);

}  // namespace kiln::builder

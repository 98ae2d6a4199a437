// Small output files that appear whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace kiln::builder {

// Writes a temporary file beside `path` and renames it over. Empty on success, else the
// reason; then nothing is left behind and what stood at `path` is untouched.
std::string write_whole_file(const std::string &path, std::string_view bytes);

}  // namespace kiln::builder

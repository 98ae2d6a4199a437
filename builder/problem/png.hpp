// PNG files of 8-bit planes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "builder/problem/plane.hpp"

namespace kiln::builder {

// Reads a PNG file with 8 bits a channel and converts it to `channels` (1 luma, 3 RGB,
// 4 RGBA). Nothing on failure, with the reason in `error`.
std::optional<Plane> read_png(const std::string &path, std::uint32_t channels, std::string *error);

// What read_png would complain about, from the file's header alone; empty when nothing.
std::string check_png(const std::string &path);

// Writes through a temporary file and a rename. Empty on success, else the reason.
std::string write_png(const Plane &image, const std::string &path);

}  // namespace kiln::builder

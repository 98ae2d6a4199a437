// SPDX-License-Identifier: Apache-2.0
// PNG files of 8-bit planes.
#pragma once

#include <cstdint>
#include <string>

#include "builder/base/builder_status.hpp"
#include "builder/problem/plane.hpp"

namespace kiln::builder {

// Reads a PNG file with 8 bits a channel and converts it to `channels` (1 luma, 3 RGB, 4 RGBA).
// Fails with Code::io_error if the file cannot be read, and with Code::failed if it is not an 8-bit
// PNG.
Result<Plane> read_png(const std::string &path, std::uint32_t channels);

// Checks only the file's header, and fails as read_png() would.
Status check_png(const std::string &path);

// Writes through a temporary file and a rename. Fails as write_whole_file() does, and with
// Code::failed if the image cannot be encoded.
Status write_png(const Plane &image, const std::string &path);

}  // namespace kiln::builder

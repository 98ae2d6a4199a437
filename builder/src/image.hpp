// 8-bit images in memory, and PNG files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kiln::builder {

// Rows from top to bottom without padding, channels interleaved.
struct Image {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t channels = 1;
  std::string name;  // of an output plane ("x"); may be empty
  std::vector<std::uint8_t> pixels;

  std::size_t row_bytes() const { return std::size_t{width} * channels; }
};

// Reads a PNG file with 8 bits a channel and converts it to `channels` (1 luma, 3 RGB,
// 4 RGBA). Nothing on failure, with the reason in `error`.
std::optional<Image> read_png(const std::string &path, std::uint32_t channels, std::string *error);

// What read_png would complain about, from the file's header alone; empty when nothing.
std::string check_png(const std::string &path);

// Writes through a temporary file and a rename. Empty on success, else the reason.
std::string write_png(const Image &image, const std::string &path);

}  // namespace kiln::builder

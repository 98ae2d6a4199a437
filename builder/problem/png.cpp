// SPDX-License-Identifier: Apache-2.0
// Reads and writes with stb, after checking the header.
#include "builder/problem/png.hpp"

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "kiln/packs/files.hpp"
#include "kiln/packs/path.hpp"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <stb_image.h>
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace kiln::builder {
namespace {

void append(void *context, void *data, int size) {
  static_cast<std::string *>(context)->append(static_cast<const char *>(data),
                                              static_cast<std::size_t>(size));
}

// Reads a file, and checks its header for a PNG image with 8 bits a channel.
Status read_file(const std::string &path, std::string *bytes) {
  std::ifstream file = open_file(packs::to_path(path));
  if (!file.is_open())
    return {Code::io_error, fmt::format("{}: {}", path, packs::open_fault(errno))};
  std::string part(std::size_t{1} << 20, '\0');
  do {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    bytes->append(part, 0, static_cast<std::size_t>(file.gcount()));
  } while (file && bytes->size() <= INT_MAX);
  if (bytes->size() > INT_MAX) return {Code::failed, path + ": larger than 2 GiB"};
  if (bytes->empty()) return {Code::failed, path + ": not a PNG image that can be read: empty"};
  const auto *data = reinterpret_cast<const stbi_uc *>(bytes->data());
  const int size = static_cast<int>(bytes->size());
  int width = 0;
  int height = 0;
  int stored = 0;
  if (stbi_info_from_memory(data, size, &width, &height, &stored) == 0) {
    return {Code::failed, path + ": not a PNG image that can be read"};
  }
  if (stbi_is_16_bit_from_memory(data, size) != 0) {
    return {Code::failed, path + ": has 16 bits a channel; expected 8"};
  }
  return {};
}

}  // namespace

Status check_png(const std::string &path) {
  std::string bytes;
  return read_file(path, &bytes);
}

Result<Plane> read_png(const std::string &path, std::uint32_t channels) {
  std::string bytes;
  if (Status status = read_file(path, &bytes); !status.ok()) return status;
  const auto *data = reinterpret_cast<const stbi_uc *>(bytes.data());
  const int size = static_cast<int>(bytes.size());
  int width = 0;
  int height = 0;
  int stored = 0;
  stbi_uc *pixels =
      stbi_load_from_memory(data, size, &width, &height, &stored, static_cast<int>(channels));
  if (pixels == nullptr) {
    return Status(Code::failed, fmt::format("{}: not a PNG image that can be read: {}", path,
                                            stbi_failure_reason()));
  }
  Plane image{
      static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), channels, {}, {}};
  image.pixels.assign(pixels, pixels + image.row_bytes() * image.height);
  stbi_image_free(pixels);
  return image;
}

Status write_png(const Plane &image, const std::string &path) {
  // stb counts these bytes in an int: each row with a byte before it.
  if ((image.row_bytes() + 1) * image.height > INT_MAX) {
    return {Code::over_limit, fmt::format("{}: an image of more than 2 GiB", path)};
  }
  std::string bytes;
  const int written = stbi_write_png_to_func(
      append, &bytes, static_cast<int>(image.width), static_cast<int>(image.height),
      static_cast<int>(image.channels), image.pixels.data(), static_cast<int>(image.row_bytes()));
  if (written == 0) return {Code::failed, path + ": the image could not be encoded"};
  return write_whole_file(path, bytes);
}

}  // namespace kiln::builder

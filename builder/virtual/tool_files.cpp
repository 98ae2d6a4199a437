// SPDX-License-Identifier: Apache-2.0
// Writes and reads whole files, and reports faults of a tool's files.
#include "builder/virtual/tool_files.hpp"

#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace kiln::builder {
namespace {

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{64} << 20;

std::string contents_of(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

Result<ToolFolder> ToolFolder::make() {
  auto folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.status();
  return ToolFolder(*std::move(folder));
}

std::string ToolFolder::path(std::string_view name) const {
  return fmt::format("{}/{}", folder_.path(), name);
}

Status ToolFolder::write(std::string_view name, std::string_view bytes) const {
  std::ofstream file(path(name), std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return {};
  return {Code::failed, fmt::format("cannot write {}", path(name))};
}

Result<std::string> ToolFolder::read(std::string_view name) const {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path(name), error);
  if (error) return Status(Code::process, fmt::format("it wrote no file {}", name));
  if (size == 0) return Status(Code::process, fmt::format("it wrote an empty file {}", name));
  if (size > kMaxBytes) {
    return Status(Code::process, fmt::format("it wrote {} bytes to {}", size, name));
  }
  return contents_of(path(name));
}

}  // namespace kiln::builder

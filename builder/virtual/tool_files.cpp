// SPDX-License-Identifier: Apache-2.0
// Writes and reads whole files, and reports faults of a tool's files.
#include "builder/virtual/tool_files.hpp"

#include <fstream>

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"

namespace kiln::builder {
namespace {

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{64} << 20;

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
  auto bytes = read_whole_file(path(name));
  if (!bytes) return Status(Code::process, fmt::format("{} cannot be read", name));
  return *std::move(bytes);
}

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Files that go to compilers and come from them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "builder/base/builder_status.hpp"
#include "builder/process/fork_call.hpp"

namespace kiln::builder {

// A new folder for one run of a tool, removed on destruction.
class ToolFolder {
 public:
  // Fails with Code::failed.
  static Result<ToolFolder> make();

  const std::string &path() const { return folder_.path(); }
  std::string path(std::string_view name) const;
  // Fails with Code::failed.
  Status write(std::string_view name, std::string_view bytes) const;
  // Fails with Code::process where the tool wrote no such file, one that is empty, or one of more
  // than 64 MiB.
  Result<std::string> read(std::string_view name) const;

 private:
  explicit ToolFolder(TemporaryFolder folder) : folder_(std::move(folder)) {}
  TemporaryFolder folder_;
};

// The BLAKE2b-256 of a file in hexadecimal. Fails with Code::not_found.
Result<std::string> file_digest(const std::filesystem::path &path);

}  // namespace kiln::builder

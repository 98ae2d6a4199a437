// SPDX-License-Identifier: Apache-2.0
// Files that compilers read and write.
#pragma once

#include <string>
#include <string_view>

#include "builder/base/builder_status.hpp"
#include "builder/process/temporary_folder.hpp"

namespace kiln::builder {

// A new folder for one run of a tool, removed on destruction.
class ToolFolder {
 public:
  // Makes the folder. Fails with Code::failed.
  static Result<ToolFolder> make();

  const std::string &path() const { return folder_.path(); }
  std::string path(std::string_view name) const;
  // Writes a file. Fails with Code::failed.
  Status write(std::string_view name, std::string_view bytes) const;
  // Reads a file that a tool wrote. Fails with Code::process if the file is missing, empty or
  // larger than 64 MiB.
  Result<std::string> read(std::string_view name) const;

 private:
  explicit ToolFolder(TemporaryFolder folder) : folder_(std::move(folder)) {}
  TemporaryFolder folder_;
};

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Where this executable lies. Linux.
#pragma once

#include <cerrno>
#include <filesystem>
#include <string>

namespace kiln::builder {

// What belongs to it lies beside it. Empty if the system does not say. Where a dynamic loader was
// started with its path, as for drivers of another C library, it is that path's.
inline std::filesystem::path executable_folder() {
  std::error_code error;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
  const bool is_loader = executable.filename().string().starts_with("ld-linux");
  return (is_loader ? std::filesystem::path(program_invocation_name) : executable).parent_path();
}

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Where this executable lies. Linux.
#pragma once

#include <filesystem>

namespace kiln::builder {

// What belongs to it lies beside it. Empty if the system does not say.
inline std::filesystem::path executable_folder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace kiln::builder

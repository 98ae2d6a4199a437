// SPDX-License-Identifier: Apache-2.0
// Sets the environment variables by which drivers find their caches, or use none.
#include "builder/device/driver_caches.hpp"

#include <cstdlib>
#include <filesystem>

#include "runtime/provision/mesa_provision.hpp"

namespace kiln::builder {

void use_driver_caches(const std::string &folder) {
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  setenv("POCL_CACHE_DIR", folder.c_str(), 1);
  runtime::point_mesa_at(folder.c_str());
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  setenv("NEO_CACHE_PERSISTENT", "0", 1);
}

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Adds up PoCL's folder, and Mesa's databases without what they begin with.
#include "builder/finish/compiled_bytes.hpp"

#include <filesystem>

#include "builder/finish/mesa_cache_folder.hpp"
#include "runtime/provision/mesa_cache.hpp"

namespace kiln::builder {

namespace fs = std::filesystem;

bool keeps_compiled(runtime::Finishing finishing) {
  return finishing == runtime::Finishing::launches || finishing == runtime::Finishing::shader_cache;
}

std::uintmax_t compiled_bytes(const std::string &caches) {
  await_mesa();
  std::uintmax_t bytes = 0;
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(caches, ignored), end; it != end;
       it.increment(ignored)) {
    if (it->path().filename() == kMesaRoot) it.disable_recursion_pending();
    if (it->is_regular_file(ignored)) bytes += it->file_size(ignored);
  }
  for (const fs::path &database : mesa_databases(caches)) {
    const std::uintmax_t size = fs::file_size(database, ignored);
    if (size > runtime::kFozMagicSize) bytes += size - runtime::kFozMagicSize;
  }
  return bytes;
}

}  // namespace kiln::builder

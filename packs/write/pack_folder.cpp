// SPDX-License-Identifier: Apache-2.0
// Lists the files of a folder that end in ".kiln", sorted.
#include "kiln/packs/pack_folder.hpp"

#include <algorithm>
#include <filesystem>

namespace kiln::packs {

Status packs_in(const std::string &folder, std::vector<std::string> *out) {
  namespace fs = std::filesystem;
  std::error_code error;
  out->clear();
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".kiln") out->push_back(entry->path().string());
  }
  if (error) return {Code::io_error, folder + ": " + error.message()};
  std::sort(out->begin(), out->end());
  return {};
}

}  // namespace kiln::packs

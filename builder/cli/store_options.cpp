// SPDX-License-Identifier: Apache-2.0
// Finds the store by option, environment and the user's cache.
#include "builder/cli/store_options.hpp"

#include <cstdlib>
#include <filesystem>

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Empty if the environment names no home.
std::string file_in_cache() {
  const std::string cache = variable("XDG_CACHE_HOME");
  if (fs::path(cache).is_absolute()) return cache + "/kiln/jobs.sqlite";  // as its rule demands
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/kiln/jobs.sqlite";
}

}  // namespace

std::string store_file(const std::string &option) {
  const std::string file = option.empty() ? variable("KILN_STORE") : option;
  if (file.empty()) return file_in_cache();
  return file == "none" ? "" : file;
}

void make_store_folder(const std::string &file) {
  std::error_code ignored;  // opening the file says it better
  if (!file.empty() && file == file_in_cache()) {
    fs::create_directories(fs::path(file).parent_path(), ignored);
  }
}

void add_store_option(CLI::App &command, std::string *file, const char *what) {
  command
      .add_option(
          "--store", *file,
          std::string(what) + "; default: KILN_STORE, else kiln/jobs.sqlite in the user's cache")
      ->type_name("FILE");
}

}  // namespace kiln::cli

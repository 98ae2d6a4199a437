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

std::string store_file(const StoreChoice &choice) {
  if (choice.none) return "";
  const std::string file = choice.file.empty() ? variable("KILN_STORE") : choice.file;
  if (file.empty()) return file_in_cache();
  return file == "none" ? "" : file;
}

void make_store_folder(const std::string &file) {
  std::error_code ignored;  // opening the file says it better
  if (!file.empty() && file == file_in_cache()) {
    fs::create_directories(fs::path(file).parent_path(), ignored);
  }
}

void add_store_option(CLI::App &command, StoreChoice *choice) {
  command
      .add_option("--store", choice->file,
                  "Database of finished jobs; default: KILN_STORE, else kiln/jobs.sqlite in the "
                  "user's cache")
      ->type_name("FILE");
}

void add_store_options(CLI::App &command, StoreChoice *choice) {
  add_store_option(command, choice);
  command.add_flag("--no-store", choice->none, "Neither take nor keep finished jobs");
  // Not by excludes(), which adds to what --help says of both.
  command.parse_complete_callback([choice] {
    if (choice->none && !choice->file.empty()) {
      throw CLI::ValidationError("--no-store", "there is --store, too");
    }
  });
}

}  // namespace kiln::cli

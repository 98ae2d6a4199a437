// SPDX-License-Identifier: Apache-2.0
// Which store a command uses.
#pragma once

#include <string>

#include "builder/cli/common.hpp"

namespace kiln::cli {

struct StoreChoice {
  std::string file;   // of --store
  bool none = false;  // --no-store
};

// Of --store, else of the environment's KILN_STORE, else kiln/jobs.sqlite in the user's cache
// (XDG_CACHE_HOME or ~/.cache). Empty if none of these is set, if it is "none", or with
// --no-store.
std::string store_file(const StoreChoice &choice);

// Makes the folder of the user's cache that the store is in, if it is that.
void make_store_folder(const std::string &file);

// --store.
void add_store_option(CLI::App &command, StoreChoice *choice);
// The same and --no-store.
void add_store_options(CLI::App &command, StoreChoice *choice);

}  // namespace kiln::cli

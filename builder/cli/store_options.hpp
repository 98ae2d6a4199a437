// SPDX-License-Identifier: Apache-2.0
// Which store a command uses.
#pragma once

#include <string>

#include "builder/cli/common.hpp"

namespace kiln::cli {

// `option` of --store, else the environment's KILN_STORE, else kiln/jobs.sqlite in the user's cache
// (XDG_CACHE_HOME or ~/.cache). Empty if it is "none" or none of these is set.
std::string store_file(const std::string &option);

// Makes the folder of the user's cache that the store is in, if it is that.
void make_store_folder(const std::string &file);

// --store. `what` is its value in the help.
void add_store_option(CLI::App &command, std::string *file,
                      const char *what = "Database of finished jobs, or none");

}  // namespace kiln::cli

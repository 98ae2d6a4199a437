// SPDX-License-Identifier: Apache-2.0
// What kiln run and kiln explain share: a program to load on one device.
#pragma once

#include <string>

#include "builder/cli/shared/common.hpp"
#include "builder/run/run_program.hpp"

namespace kiln::cli {

// A request for the first device that the selector matches.
struct LoadOptions : builder::RunRequest {
  std::string selector;
  std::string rung;  // the rung to begin at; empty: the best
};

// `each`: see add_rung_option().
void add_load_options(CLI::App &command, LoadOptions *options, const char *each = "");

// Opens the pack of the options. Fails as read_pack() does, and with Code::bad_argument if the pack
// lacks the program or the variant.
Result<PackFile> open_program(const LoadOptions &options);

// Makes the request that the options describe. Fails as find_devices() does.
Result<builder::RunRequest> make_request(const LoadOptions &options);

}  // namespace kiln::cli

// SPDX-License-Identifier: Apache-2.0
// Options that explain and run share, and the request that they make.
#pragma once

#include <string>

#include "builder/cli/device_options.hpp"
#include "builder/launch/run_program.hpp"

namespace kiln::cli {

struct LoadOptions {
  std::string program;
  std::string pack;
  std::string selector;
  std::string variant;
  bool no_binary = false;
  bool no_il = false;
  bool no_source = false;
  bool compatible = false;
  bool unload_compiler = false;
  std::string overlay;
  double deadline_seconds = 0;
  double timeout_seconds = 120;
};

void add_load_options(CLI::App &command, LoadOptions *options);

// The pack of the options. Fails as open_pack() does, and with Code::bad_argument when the pack
// lacks the program or the variant.
Result<OpenPack> open_program(const LoadOptions &options);

// The request that the options describe, for the first device that the selector names.
// Fails as find_devices() does.
Result<builder::RunRequest> make_request(const LoadOptions &options);

}  // namespace kiln::cli

// SPDX-License-Identifier: Apache-2.0
// Options that many subcommands have, each with one text and one meaning.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "builder/cli/common.hpp"
#include "builder/jobs/shard.hpp"

namespace kiln::cli {

// --device; `otherwise` says what is taken without it.
void add_device_option(CLI::App &command, std::string *selector, const char *otherwise = "all");
// --json.
void add_json_flag(CLI::App &command, bool *json, int schema = 1);
// --timeout; `what` says for what.
void add_timeout_option(CLI::App &command, double *seconds, const char *what);
// What build and plan know of jobs alike.
struct JobChoice {
  bool preferred = false;
  bool no_finish = false;
  bool require_proof = false;
  builder::ReferenceOptions references;
  std::vector<std::uint32_t> also;  // compute capabilities, as BuildOptions has them
};

// --preferred, --no-finish, --require-proof, --references, --no-check and --also.
void add_job_options(CLI::App &command, JobChoice *choice);

// --shard, of which a build does the jobs and a plan shows them.
void add_shard_option(CLI::App &command, builder::Shard *shard);

// Of an option that takes seconds.
inline std::chrono::milliseconds in_milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<long>(seconds * 1000));
}

// What a command takes that does something with a pack on devices.
struct DeviceOptions {
  std::string pack;
  std::string selector;
  std::string program;  // empty: all, or as the command says
  bool json = false;
};

// --pack, --device and --program, with the texts of the first and the last. The command adds
// --json after options of its own.
void add_device_options(CLI::App &command, DeviceOptions *options, const char *pack,
                        const char *program = "Only this program; default: all");

struct PackOnDevices {
  OpenPack pack;
  std::vector<builder::DeviceInfo> devices;
};

// Fails as open_pack() and find_devices() do.
Result<PackOnDevices> open_on_devices(const DeviceOptions &options);

}  // namespace kiln::cli

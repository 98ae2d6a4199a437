// SPDX-License-Identifier: Apache-2.0
// Options that several subcommands have, each with one text and one meaning.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "builder/caches/cache_formats.hpp"
#include "builder/cli/common.hpp"
#include "builder/jobs/plan.hpp"
#include "builder/launch/run_program.hpp"
#include "builder/virtual/virtual_devices.hpp"

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

// --as; `otherwise` ends its text.
CLI::Option *add_format_option(CLI::App &command, builder::CacheRequest *cache,
                               const char *otherwise = "");

// --learn and --include.
void add_learning_options(CLI::App &command, builder::CacheRequest *cache);

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

// `option` of --store, else the environment's KILN_STORE, else kiln/jobs.sqlite in the user's cache
// (XDG_CACHE_HOME or ~/.cache). Empty if it is "none" or none of these is set.
std::string store_file(const std::string &option);

// Makes the folder of the user's cache that the store is in, if it is that.
void make_store_folder(const std::string &file);

// --store. `what` is its value in the help.
void add_store_option(CLI::App &command, std::string *file,
                      const char *what = "Database of finished jobs, or none");

struct VirtualOptions {
  std::vector<std::string> specs;
  builder::VirtualTools tools;  // but clang, which is one of the host tools
};

// --virtual, and the options that name its tools and drivers.
void add_virtual_options(CLI::App &command, VirtualOptions *options);

// The devices of this machine that `selector` names, unless virtual ones alone are asked for, then
// those. Virtual devices that cannot be had are printed, and set `*exit_code`, unless no device is
// left: then it fails with Code::no_device. Fails with Code::bad_argument where `also`, compute
// capabilities as BuildOptions has them, are asked of no NVIDIA device that is there.
Result<std::vector<builder::DeviceInfo>> find_all_devices(const std::string &selector,
                                                          const VirtualOptions &options,
                                                          const std::string &clang,
                                                          const std::vector<std::uint32_t> &also,
                                                          int *exit_code);

}  // namespace kiln::cli

// SPDX-License-Identifier: Apache-2.0
// Options that several subcommands share, each with one text and one meaning.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "builder/cli/common.hpp"
#include "builder/jobs/plan.hpp"
#include "builder/launch/run_program.hpp"
#include "builder/publish/minisign.hpp"
#include "builder/virtual/virtual_devices.hpp"

namespace kiln::cli {

// Adds --device; `otherwise` says which devices are the default.
void add_device_option(CLI::App &command, std::string *selector, const char *otherwise = "all");
// Each adds the option of its name; `what` is its text in the help.
void add_pack_option(CLI::App &command, std::string *pack, const char *what);
void add_program_option(CLI::App &command, std::string *program,
                        const char *what = "Only this program; default: all");
void add_variant_option(CLI::App &command, std::string *variant, const char *what);
void add_overlay_option(CLI::App &command, std::string *folder, const char *what);
void add_report_option(CLI::App &command, std::string *file, const char *what);
CLI::Option *add_output_option(CLI::App &command, std::string *path, const char *what,
                               const char *kind = "PACK");
// --key takes public keys only, and --secret-key a secret one; --revision is the revision to give,
// and --min-revision the oldest to accept.
struct PublicKeyOptions {
  std::vector<std::string> keys;
  std::uint64_t threshold = 1;
  std::uint64_t revision = 0;

  // Reads the keys. Fails as read_public_keys() does, and if the threshold exceeds their number.
  Result<packs::Demand> demand() const;
};
void add_public_keys_option(CLI::App &command, PublicKeyOptions *options);  // and --threshold
void add_secret_key_option(CLI::App &command, std::string *file);
CLI::Option *add_secret_keys_option(CLI::App &command, std::vector<std::string> *files);
void add_least_revision_option(CLI::App &command, std::uint64_t *revision);
// Adds --json.
void add_json_flag(CLI::App &command, bool *json, int schema = 1);
// Adds --jobs, with its default.
void add_jobs_option(CLI::App &command, std::size_t *jobs);
// Adds --root.
void add_root_option(CLI::App &command, builder::Roots *roots);
// Adds --timeout; `what` is its text in the help.
void add_timeout_option(CLI::App &command, std::chrono::milliseconds *time, const char *what);

// The options of a command that uses a pack on devices.
struct DeviceOptions {
  std::string pack;
  std::string selector;
  std::string program;  // empty: all, or as the command says
  bool json = false;
};

// Adds --pack, --device and --program; `pack` and `program` are help texts. The command adds --json
// after its own options.
void add_device_options(CLI::App &command, DeviceOptions *options, const char *pack,
                        const char *program = "Only this program; default: all");

struct PackOnDevices {
  OpenPack pack;
  std::vector<builder::DeviceInfo> devices;
};

// Opens the pack and finds the devices. Fails as open_pack() and find_devices() do.
Result<PackOnDevices> open_on_devices(const DeviceOptions &options);

// A request for the first device that the selector matches.
struct LoadOptions : builder::RunRequest {
  std::string selector;
};

void add_load_options(CLI::App &command, LoadOptions *options);

// Checks that the pack has the program. Fails with Code::bad_argument; the message names `pack`,
// the file, and lists its programs.
Status check_program(const packs::Contents &contents, const std::string &pack,
                     const std::string &program);

// Opens the pack of the options. Fails as open_pack() does, and with Code::bad_argument if the pack
// lacks the program or the variant.
Result<OpenPack> open_program(const LoadOptions &options);

// Makes the request that the options describe, for the first device that the selector matches.
// Fails as find_devices() does.
Result<builder::RunRequest> make_request(const LoadOptions &options);

// Adds --store, with its default; an empty file means none. `what` describes its value in the help.
void add_store_option(CLI::App &command, std::string *file,
                      const char *what = "Database of finished jobs, or the word none");

}  // namespace kiln::cli

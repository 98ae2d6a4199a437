// SPDX-License-Identifier: Apache-2.0
// Declares the options with CLI11, and opens the pack and the devices that they name.
#include "builder/cli/device_options.hpp"

#include <fmt/format.h>

#include "builder/cli/parse.hpp"
#include "builder/virtual/nvptx_compiler.hpp"

namespace kiln::cli {
namespace {

Status check_architecture(const std::string &text) {
  if (builder::parse_architecture(text)) return {};
  return {Code::bad_argument,
          "\"" + text + "\" is no architecture of NVIDIA's: expected sm_ and two or three digits"};
}

}  // namespace

void add_device_option(CLI::App &command, std::string *selector, const char *otherwise) {
  command.add_option(
      "--device", *selector,
      fmt::format("Index, or glob over platform and device name; default: {}", otherwise));
}

void add_json_flag(CLI::App &command, bool *json, int schema) {
  command.add_flag("--json", *json, fmt::format("Print JSON, schema {}", schema));
}

void add_timeout_option(CLI::App &command, double *seconds, const char *what) {
  command.add_option("--timeout", *seconds, what)
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
}

void add_job_options(CLI::App &command, JobChoice *choice) {
  command.add_flag(
      "--preferred", choice->preferred,
      "Only one variant of each program, the first one in `prefer` that the device can "
      "run; binaries of others are kept");
  command.add_flag(
      "--no-finish", choice->no_finish,
      "Leave the drivers' binaries as they are, whatever a first launch then compiles");
  add_reference_options(command, &choice->references);
  command
      .add_flag("--require-proof", choice->require_proof,
                "Pack no new binary whose results were compared with nothing")
      ->excludes("--no-check");
  const auto set_also = [choice](const std::vector<std::string> &architectures) {
    for (const std::string &text : architectures) {
      choice->also.push_back(*builder::parse_architecture(text));
    }
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--also", set_also,
          "NVIDIA: also make code for later architectures, such as sm_100,sm_120; it is marked "
          "as never run")
      ->delimiter(',')
      ->check(as_validator(check_architecture, "sm_NN"));
}

void add_shard_option(CLI::App &command, builder::Shard *shard) {
  const auto set = [shard](const std::string &text) {
    const auto parsed = builder::parse_shard(text);
    if (!parsed.ok()) throw CLI::ValidationError("--shard", parsed.status().message);
    *shard = *parsed;
  };
  command
      .add_option_function<std::string>(
          "--shard", set,
          "Only the I-th of N parts of all jobs; the packs of all parts merge to the whole")
      ->type_name("I/N");
}

void add_device_options(CLI::App &command, DeviceOptions *options, const char *pack,
                        const char *program) {
  command.add_option("--pack", options->pack, pack)->required();
  add_device_option(command, &options->selector);
  command.add_option("--program", options->program, program);
}

Result<PackOnDevices> open_on_devices(const DeviceOptions &options) {
  auto pack = open_pack(options.pack);
  if (!pack.ok()) return pack.status();
  auto devices = find_devices(options.selector);
  if (!devices.ok()) return devices.status();
  return PackOnDevices{*std::move(pack), *std::move(devices)};
}

}  // namespace kiln::cli

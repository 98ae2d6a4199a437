// SPDX-License-Identifier: Apache-2.0
// Declares the options with CLI11, and opens the offline compilers that they name.
#include "builder/cli/offline_options.hpp"

#include "builder/cli/parse.hpp"

namespace kiln::cli {
namespace {

Status check_spec(const std::string &text) { return builder::parse_offline_spec(text).status(); }

}  // namespace

void add_offline_options(CLI::App &command, OfflineOptions *options) {
  command
      .add_option("--offline", options->specs,
                  "Make binaries for devices that are not here, such as nvidia:sm_80,sm_90 or "
                  "ocloc:tgllp,dg2 or mali.toml; without --device for these alone; repeatable")
      ->expected(1)
      ->take_all()
      ->check(as_validator(check_spec, "SPEC"));
  command.add_option("--ptxas", options->tools.ptxas,
                     "--offline nvidia: ptxas of a CUDA toolkit, instead of searching");
  command.add_option("--libclc", options->tools.libclc,
                     "--offline nvidia: libclc's nvptx64--nvidiacl.bc, instead of searching");
  command.add_option("--ocloc", options->tools.ocloc,
                     "--offline ocloc: Intel's compiler, instead of searching");
}

Result<std::vector<builder::DeviceInfo>> find_all_devices(const std::string &selector,
                                                          const OfflineOptions &options,
                                                          const std::string &clang,
                                                          int *exit_code) {
  std::vector<builder::DeviceInfo> devices;
  if (options.specs.empty() || !selector.empty()) {
    if (Status s = find_devices(selector).move_to(&devices); !s.ok()) return s;
  }
  std::vector<builder::OfflineSpec> specs;
  for (const std::string &text : options.specs) specs.push_back(*builder::parse_offline_spec(text));
  builder::OfflineTools tools = options.tools;
  tools.clang = clang;
  builder::OfflineTargets offline = builder::find_offline_targets(specs, tools);
  for (const std::string &note : offline.notes) complain(note);
  for (builder::DeviceInfo &device : offline.devices) devices.push_back(std::move(device));
  if (!devices.empty()) {
    for (const Status &failure : offline.failures) complain(failure.message);
    if (!offline.failures.empty()) *exit_code = kSomeFailed;
    return devices;
  }
  std::string text;
  for (const Status &failure : offline.failures)
    text += (text.empty() ? "" : "\n") + failure.message;
  return Status(Code::no_device, text);
}

}  // namespace kiln::cli

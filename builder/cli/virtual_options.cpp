// SPDX-License-Identifier: Apache-2.0
// Declares the options with CLI11, and finds the devices that they name.
#include "builder/cli/virtual_options.hpp"

#include <algorithm>
#include <filesystem>

#include "builder/base/this_process.hpp"
#include "builder/cli/parse.hpp"

namespace kiln::cli {
namespace {

Status check_spec(const std::string &text) { return builder::parse_virtual_spec(text).status(); }

Status check_root(const std::string &text) {
  std::error_code error;
  if (std::filesystem::is_directory(text, error)) return {};
  return {Code::bad_argument, text + ": no such folder"};
}

bool has_linker(const builder::DeviceInfo &device) {
  return device.virtual_device == nullptr &&
         device.description.finishing == runtime::Finishing::linker;
}

}  // namespace

void add_virtual_options(CLI::App &command, VirtualOptions *options) {
  CLI::Option *specs =
      command
          .add_option("--virtual", options->specs,
                      "Make binaries for devices that are not here, such as neo:skl,tgllp or "
                      "nvidia:sm_80,sm_90 or ocloc.toml:dg2 or mali.toml; without --device for "
                      "these alone; may be repeated")
          ->expected(1)
          ->take_all()
          ->check(as_validator(check_spec, "SPEC"));
  command
      .add_option("--root", options->tools.root,
                  "--virtual neo: folder with an unpacked root of the driver's packages; default: "
                  "the driver of this machine")
      ->check(as_validator(check_root, "FOLDER"))
      ->needs(specs);
  command.add_option("--ptxas", options->tools.ptxas,
                     "--virtual nvidia: ptxas of a CUDA toolkit, instead of searching");
  command.add_option("--libclc", options->tools.libclc,
                     "--virtual nvidia: libclc's nvptx64--nvidiacl.bc, instead of searching");
}

Result<std::vector<builder::DeviceInfo>> find_all_devices(const std::string &selector,
                                                          const VirtualOptions &options,
                                                          const std::string &clang,
                                                          const std::vector<std::uint32_t> &also,
                                                          int *exit_code) {
  std::vector<builder::DeviceInfo> devices;
  if (options.specs.empty() || !selector.empty()) {
    if (Status s = find_devices(selector).move_to(&devices); !s.ok()) return s;
  }
  if (!also.empty() && std::none_of(devices.begin(), devices.end(), has_linker)) {
    return Status(Code::bad_argument,
                  "--also needs a device of NVIDIA's that tells its compute capability");
  }
  std::vector<builder::VirtualSpec> specs;
  for (const std::string &text : options.specs) specs.push_back(*builder::parse_virtual_spec(text));
  const bool has_neo = std::any_of(specs.begin(), specs.end(),
                                   [](const auto &spec) { return spec.backend == "neo"; });
  if (!options.tools.root.empty() && !has_neo) {
    return Status(Code::bad_argument, "--root needs --virtual neo:MODEL");
  }
  builder::VirtualTools tools = options.tools;
  tools.clang = clang;
  const std::filesystem::path data = builder::executable_folder() / KILN_DATA_FROM_BIN;
  tools.descriptions = (data / "virtual").lexically_normal();
  builder::VirtualDevices found = builder::find_virtual_devices(specs, tools, devices);
  for (const std::string &note : found.notes) complain(note);
  for (builder::DeviceInfo &device : found.devices) devices.push_back(std::move(device));
  if (!devices.empty()) {
    for (const Status &failure : found.failures) complain(failure.message);
    if (!found.failures.empty()) *exit_code = kSomeFailed;
    return devices;
  }
  std::string text;
  for (const Status &failure : found.failures) {
    text += (text.empty() ? "" : "\n") + failure.message;
  }
  return Status(Code::no_device, text);
}

}  // namespace kiln::cli

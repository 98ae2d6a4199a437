// SPDX-License-Identifier: Apache-2.0
// Declares the options with CLI11, checks them against the pack, and prints a load report.
#include "builder/cli/load_options.hpp"

#include <fmt/format.h>

#include "builder/base/suggest.hpp"

namespace kiln::cli {
namespace {

Status knows_program(const packs::Contents &contents, const LoadOptions &options) {
  std::vector<std::string> names;
  for (const packs::Program &program : contents.programs) {
    if (program.name != options.program) {
      names.push_back(program.name);
      continue;
    }
    std::vector<std::string> variants;
    for (const packs::Variant &variant : program.variants) variants.push_back(variant.name);
    const bool known = options.variant.empty() || std::find(variants.begin(), variants.end(),
                                                            options.variant) != variants.end();
    if (known) return {};
    return {Code::bad_argument,
            fmt::format("program {} has no variant {}: {}", options.program, options.variant,
                        builder::expected_one_of(options.variant, variants))};
  }
  return {Code::bad_argument, fmt::format("{} has no program {}: {}", options.pack, options.program,
                                          builder::expected_one_of(options.program, names))};
}

}  // namespace

void add_load_options(CLI::App &command, LoadOptions *options) {
  command.add_option("program", options->program, "Program of the pack")->required();
  command.add_option("--pack", options->pack, "Pack to load from")->required();
  add_device_option(command, &options->selector, "the first device");
  command.add_option("--variant", options->variant,
                     "Variant; default: the one that the runtime chooses");
  command.add_flag("--no-binary", options->no_binary,
                   "Leave out the rungs overlay, exact, compatible and intermediate");
  command.add_flag("--no-il", options->no_il, "Leave out the IL rung");
  command.add_flag("--no-source", options->no_source, "Leave out the source rung");
  command.add_flag("--compatible", options->compatible,
                   "Allow another target's binary that serves this device");
  command.add_option("--overlay", options->overlay,
                     "Folder for what this device has to compile, and for what is known of drivers "
                     "that died");
  command
      .add_option("--deadline", options->deadline_seconds,
                  "Other processes skip a binary that this one has been loading for this many "
                  "seconds; 0: never")
      ->check(CLI::Range(0.0, 86400.0));
  command.add_flag("--unload-compiler", options->unload_compiler,
                   "Ask the driver to unload its compiler after the load, and tell the memory");
  add_timeout_option(command, &options->timeout_seconds, "Seconds that the driver may take");
}

Result<OpenPack> open_program(const LoadOptions &options) {
  auto pack = open_pack(options.pack);
  if (!pack.ok()) return pack;
  if (Status s = knows_program(pack->contents, options); !s.ok()) return s;
  return pack;
}

Result<builder::RunRequest> make_request(const LoadOptions &options) {
  const auto devices = find_devices(options.selector);
  if (!devices.ok()) return devices.status();
  builder::RunRequest request;
  request.pack_path = options.pack;
  request.device = devices->front();
  request.program = options.program;
  request.variant = options.variant;
  request.flags = KILN_LOAD_CHECK_RECOMPILED;
  if (options.no_binary) request.flags |= KILN_LOAD_NO_BINARY;
  if (options.no_il) request.flags |= KILN_LOAD_NO_IL;
  if (options.no_source) request.flags |= KILN_LOAD_NO_SOURCE;
  if (options.compatible) request.flags |= KILN_LOAD_COMPATIBLE;
  request.unload = options.unload_compiler;
  request.overlay = options.overlay;
  request.deadline = in_milliseconds(options.deadline_seconds);
  request.timeout = in_milliseconds(options.timeout_seconds);
  return request;
}

}  // namespace kiln::cli

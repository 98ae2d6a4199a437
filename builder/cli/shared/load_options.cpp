// SPDX-License-Identifier: Apache-2.0
// Opens the pack, and finds the program, variant and device that are named.
#include "builder/cli/shared/load_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/cli/shared/common_options.hpp"
#include "runtime/load/rungs.hpp"

namespace kiln::cli {
namespace {

Status knows_variant(const packs::Contents &contents, const LoadOptions &options) {
  for (const packs::Program &program : contents.programs) {
    if (program.name != options.program) continue;
    std::vector<std::string> variants;
    for (const packs::Variant &variant : program.variants) variants.push_back(variant.name);
    const bool known = options.variant.empty() || std::find(variants.begin(), variants.end(),
                                                            options.variant) != variants.end();
    if (known) return {};
    return {Code::bad_argument,
            fmt::format("program {} has no variant {}: {}", options.program, options.variant,
                        builder::expected_one_of(options.variant, variants))};
  }
  return {};
}

}  // namespace

void add_load_options(CLI::App &command, LoadOptions *options, const char *each) {
  command.add_option("program", options->program, "Program of the pack")->required();
  add_pack_option(command, &options->pack_path, "Pack to load from");
  add_device_option(command, &options->selector, "the first device");
  add_variant_option(command, &options->variant,
                     "Variant; default: the one that the runtime chooses");
  add_without_option(command, &options->flags);
  add_rung_option(command, &options->rung, each);
  add_overlay_option(
      command, &options->overlay,
      "Keep in DIR what had to be compiled on this device, and which binaries crashed its driver");
  add_timeout_option(command, &options->timeout, "Seconds that the driver may take");
}

Result<PackFile> open_program(const LoadOptions &options) {
  auto pack = read_pack(options.pack_path);
  if (!pack.ok()) return pack;
  if (options.program.empty()) return pack;
  if (Status s = check_program(pack->contents, options.pack_path, options.program); !s.ok())
    return s;
  if (Status s = knows_variant(pack->contents, options); !s.ok()) return s;
  return pack;
}

Result<builder::RunRequest> make_request(const LoadOptions &options) {
  const auto devices = find_devices(options.selector);
  if (!devices.ok()) return devices.status();
  builder::RunRequest request = options;
  request.device = devices->front();
  request.flags |= KILN_LOAD_CHECK_RECOMPILED;
  (void)runtime::leave_out_above(options.rung, &request.flags);
  return request;
}

}  // namespace kiln::cli

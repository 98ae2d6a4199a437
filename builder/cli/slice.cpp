// SPDX-License-Identifier: Apache-2.0
// kiln slice: a pack of chosen targets and programs.
#include <fmt/format.h>

#include "builder/cli/device_options.hpp"
#include "builder/inspect/pack_slice.hpp"

namespace kiln::cli {
namespace {

struct SliceArguments {
  std::string input;
  std::string output;
  builder::SliceRequest request;
  packs::WriteOptions write;
  bool json = false;
};

std::size_t binaries_of(const packs::Contents &contents) {
  std::size_t binaries = 0;
  for (const packs::Target &target : contents.targets) {
    binaries += target.binaries.size() + target.intermediates.size();
  }
  return binaries;
}

int run_slice(const SliceArguments &options) {
  const builder::SliceRequest &request = options.request;
  if (request.targets.empty() && request.families.empty() && request.profiles.empty() &&
      request.programs.empty() && !options.write.purpose) {
    return fail({Code::bad_argument,
                 "slice needs one of --target, --family, --profile, --program and --for"});
  }
  const auto open = open_pack(options.input);
  if (!open.ok()) return fail(open.status());
  if (Status s = check_output(options.output, {options.input}); !s.ok()) return fail(s);
  const auto cut = builder::find_slice(open->contents, request);
  if (!cut.ok()) return fail({cut.status().code, options.input + ": " + cut.status().message});
  const packs::Contents slice = builder::cut_contents(open->contents, *cut);
  if (Status s = write_output(slice, options.output, options.write); !s.ok()) return fail(s);
  const std::size_t binaries = binaries_of(slice);
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.output},
                         {"programs", slice.programs.size()},
                         {"targets", slice.targets.size()},
                         {"binaries", binaries}});
  } else {
    print(fmt::format("{}: {} of {}, {} of {}, {} of {}\n", options.output, slice.programs.size(),
                      count(open->contents.programs.size(), "program"), slice.targets.size(),
                      count(open->contents.targets.size(), "target"), binaries,
                      count(binaries_of(open->contents), "binary")));
  }
  return kDone;
}

}  // namespace

void add_slice(CLI::App &app, Command *command) {
  auto options = std::make_shared<SliceArguments>();
  builder::SliceRequest &request = options->request;
  CLI::App *sub = app.add_subcommand("slice", "Make a pack of some targets or programs of another");
  sub->add_option("pack", options->input, "Pack to take them from")->required();
  sub->add_option("-o,--output", options->output, "Pack to write")->required();
  const auto add = [sub](const char *name, std::vector<std::string> *words, const char *type,
                         const char *what) {
    sub->add_option(name, *words, what)->type_name(type)->allow_extra_args(false);
  };
  add("--target", &request.targets, "TARGET",
      "Key, its hash, or glob over label, platform and device name");
  add("--family", &request.families, "GLOB", "Targets of this family");
  add("--profile", &request.profiles, "GLOB", "Targets of this vendor profile");
  add("--program", &request.programs, "NAME", "This program");
  add_purpose_option(*sub, &options->write);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run_slice(*options); }; });
}

}  // namespace kiln::cli

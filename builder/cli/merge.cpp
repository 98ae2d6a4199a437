// SPDX-License-Identifier: Apache-2.0
// kiln merge: the union of packs.
#include <fmt/format.h>

#include "builder/cli/device_options.hpp"

namespace kiln::cli {
namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  packs::WriteOptions write;
  bool json = false;
};

int run(const Options &options) {
  if (Status s = check_output(options.output, {}); !s.ok()) return fail(s);
  packs::Contents merged;
  for (const std::string &path : options.inputs) {
    const auto pack = open_pack(path);
    if (!pack.ok()) return fail(pack.status());
    const Status status = packs::merge(pack->contents, &merged);
    if (!status.ok()) {
      return fail({status.code, fmt::format("{}: {} [{}]", path, status.message,
                                            packs::code_name(status.code))});
    }
  }
  if (Status s = write_output(merged, options.output, options.write); !s.ok()) return fail(s);
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.output},
                         {"programs", merged.programs.size()},
                         {"targets", merged.targets.size()}});
  } else {
    print(fmt::format(
        "{}: {}, {} from {}\n", options.output, count(merged.programs.size(), "program"),
        count(merged.targets.size(), "target"), count(options.inputs.size(), "pack")));
  }
  return kDone;
}

}  // namespace

void add_merge(CLI::App &app, Command *command) {
  auto options = std::make_shared<Options>();
  CLI::App *sub = app.add_subcommand("merge", "Combine packs: the union of their targets");
  sub->add_option("packs", options->inputs, "Packs to combine")->required();
  sub->add_option("-o,--output", options->output, "Pack to write")->required();
  add_write_options(*sub, &options->write);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli

// SPDX-License-Identifier: Apache-2.0
// kiln pack merge: the union of packs.
#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/cli/common_options.hpp"
#include "builder/inspect/merge_report.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/manifest/note_file.hpp"

namespace kiln::cli {
namespace {

struct MergeArguments {
  std::vector<std::string> inputs;
  std::string base;
  std::string known_bad;
  std::string output;
  packs::WriteOptions write;
  bool json = false;
};

Result<packs::Contents> read_checked(const std::string &path) {
  auto pack = open_checked_pack(path);
  if (!pack.ok()) return pack.status();
  return std::move(pack->contents);
}

// Adds each pack to `merged`, and the choices that were made to `report`.
Status merge_inputs(const MergeArguments &options, packs::Contents *merged,
                    builder::MergeReport *report) {
  for (const std::string &path : options.inputs) {
    packs::Contents contents;
    if (Status s = read_checked(path).move_to(&contents); !s.ok()) return s;
    if (!options.base.empty()) {
      const std::size_t left_out = packs::keep_contribution(*merged, &contents);
      if (left_out != 0) {
        complain(fmt::format("{}: left out {}, of variants that the base does not have", path,
                             count(left_out, "binary")));
      }
    }
    std::vector<packs::MergeChoice> choices;
    const Status status = packs::merge(contents, merged, &choices);
    if (!status.ok()) return in_pack(path, status);
    for (packs::MergeChoice &choice : choices) report->push_back({path, std::move(choice)});
  }
  return {};
}

int run(const MergeArguments &options) {
  if (Status s = check_output(options.output, {}); !s.ok()) return fail(s);
  packs::Contents merged;
  if (!options.base.empty()) {
    if (Status s = read_checked(options.base).move_to(&merged); !s.ok()) return fail(s);
  }
  builder::MergeReport report;
  builder::allow_many_files();  // each input stays open until the output is written
  if (Status s = merge_inputs(options, &merged, &report); !s.ok()) return fail(s);
  if (!options.known_bad.empty()) {
    const auto notes = builder::read_known_bad(options.known_bad);
    if (!notes.ok()) return fail(notes.status());
    if (Status s = packs::merge(*notes, &merged); !s.ok()) return fail(s);
  }
  if (Status s = write_output(merged, options.output, options.write); !s.ok()) return fail(s);
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.output},
                         {"programs", merged.programs.size()},
                         {"targets", merged.targets.size()},
                         {"choices", builder::merge_report_json(merged, report)}});
  } else {
    print(builder::merge_report_text(builder::printable_contents(merged), report) +
          fmt::format(
              "{}: {}, {} from {}\n", options.output, count(merged.programs.size(), "program"),
              count(merged.targets.size(), "target"), count(options.inputs.size(), "pack")));
  }
  return kDone;
}

}  // namespace

void add_merge(CLI::App &app, Command *command) {
  auto options = std::make_shared<MergeArguments>();
  CLI::App *sub =
      app.add_subcommand("merge", "Combine packs: the union of their programs and targets");
  sub->add_option("packs", options->inputs, "Packs to combine");
  sub->add_option("--known-bad", options->known_bad, "Add the known-bad notes of this file")
      ->type_name("FILE");
  sub->add_option("--base", options->base,
                  "Take programs only from this pack; from the others targets and records")
      ->type_name("PACK");
  add_output_option(*sub, &options->output, "Pack to write")->required();
  add_compress_option(*sub, &options->write);
  add_json_flag(*sub, &options->json);
  sub->callback([=] {
    if (options->inputs.empty() && options->known_bad.empty()) {
      throw CLI::RequiredError("packs or --known-bad");
    }
    *command = [=] { return run(*options); };
  });
}

}  // namespace kiln::cli

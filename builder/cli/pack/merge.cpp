// SPDX-License-Identifier: Apache-2.0
// kiln pack merge: the union of packs.
#include <algorithm>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/cli/shared/common_options.hpp"
#include "builder/inspect/merge_report.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/manifest/note_file.hpp"
#include "builder/sign/public_keys.hpp"
#include "kiln/packs/path.hpp"
#include "kiln/packs/signing.hpp"
#include "kiln/packs/trust.hpp"

namespace kiln::cli {
namespace {

struct MergeArguments {
  std::vector<std::string> inputs;  // packs
  std::vector<std::string> notes;   // files of known-bad notes
  std::string base;
  bool proven = false;
  std::vector<std::string> keys;  // proofs count only in packs that one of these signed
  std::string held;               // pack for what has no proof; empty: none
  std::string output;
  packs::WriteOptions write;
  bool json = false;
};

// What a merge makes.
struct Merged {
  packs::Contents contents;
  builder::MergeReport report;
  packs::Contents held;  // targets with what has no proof; empty without --proven
};

// Returns whether a pack's own word for its proofs counts.
bool is_trusted(const packs::Pack &pack, const packs::Demand &demand) {
  std::vector<packs::Signature> signatures;
  std::vector<packs::Signature> found;
  return demand.keys.empty() ||
         (packs::read_signatures(pack, &signatures).ok() &&
          packs::find_trusted(pack.superblock(), packs::root_name(pack), signatures, demand, &found)
              .ok());
}

// Returns "program/variant" of the merged programs' variant with that hash.
std::string variant_label(const packs::Contents &contents, const packs::Digest &hash) {
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      if (variant.hash == hash) return program.name + "/" + variant.name;
    }
  }
  return packs::hex(hash);
}

std::size_t binaries_in(const packs::Target &target) {
  return target.binaries.size() + target.intermediates.size();
}

// Names what is held, a line for each target.
void print_held(const Merged &merged) {
  for (const packs::Target &target : merged.held.targets) {
    std::string names;
    for (const auto *entries : {&target.binaries, &target.intermediates}) {
      for (const packs::Binary &binary : *entries) {
        names += (names.empty() ? "" : ", ") + variant_label(merged.contents, binary.variant);
      }
    }
    complain(builder::printable_line(fmt::format("{}: held, as nothing proves {}: {}",
                                                 builder::target_label(target),
                                                 binaries_in(target) == 1 ? "it" : "them", names)));
  }
}

std::size_t held_binaries(const Merged &merged) {
  std::size_t all = 0;
  for (const packs::Target &target : merged.held.targets) all += binaries_in(target);
  return all;
}

nlohmann::json held_json(const Merged &merged) {
  nlohmann::json all = nlohmann::json::array();
  for (const packs::Target &target : merged.held.targets) {
    nlohmann::json names = nlohmann::json::array();
    for (const auto *entries : {&target.binaries, &target.intermediates}) {
      for (const packs::Binary &binary : *entries) {
        names.push_back(variant_label(merged.contents, binary.variant));
      }
    }
    all.push_back({{"key_hash", packs::hex64(packs::xxh3(target.key))},
                   {"device", builder::target_label(target)},
                   {"variants", names}});
  }
  return all;
}

// Adds each pack to `merged`.
Status merge_inputs(const MergeArguments &options, const packs::Demand &demand, Merged *out) {
  packs::Contents *merged = &out->contents;
  builder::MergeReport *report = &out->report;
  for (const std::string &path : options.inputs) {
    auto open = read_checked_pack(path);
    if (!open.ok()) return open.status();
    packs::Contents contents = std::move(open->contents);
    if (!options.base.empty()) {
      const std::size_t left_out = packs::remove_all_but_additions(*merged, &contents);
      if (left_out != 0) {
        complain(fmt::format("{}: left out {}, of variants that the base does not have", path,
                             count(left_out, "binary")));
      }
    }
    if (options.proven) {
      const packs::Contents held =
          packs::take_out_unproven(!is_trusted(*open->pack, demand), &contents);
      (void)packs::merge(held, &out->held);  // only targets: cannot fail
    }
    std::vector<packs::MergeChoice> choices;
    const Status status = packs::merge(contents, merged, &choices);
    if (status.code == Code::conflict) {  // only without a base
      return in_pack(path, {status.code, status.message + "; with --base PACK, PACK decides"});
    }
    if (!status.ok()) return in_pack(path, status);
    for (packs::MergeChoice &choice : choices) report->push_back({path, std::move(choice)});
  }
  return {};
}

int run(const MergeArguments &options) {
  if (Status s = check_output(options.output, {}); !s.ok()) return fail(s);
  if (!options.held.empty()) {
    if (options.held == options.output) {
      return fail({Code::bad_argument, options.held + " is both the output and --held"});
    }
    if (Status s = check_output(options.held, {}); !s.ok()) return fail(s);
  }
  const auto keys = builder::read_public_keys(options.keys);
  if (!keys.ok()) return fail(keys.status());
  Merged all;
  if (!options.base.empty()) {
    auto base = read_checked_pack(options.base);
    if (!base.ok()) return fail(base.status());
    all.contents = std::move(base->contents);
  }
  builder::allow_many_files();  // each input stays open until the output is written
  if (Status s = merge_inputs(options, {*keys, 0}, &all); !s.ok()) return fail(s);
  for (const std::string &path : options.notes) {
    const auto notes = builder::read_known_bad(packs::to_path(path));
    if (!notes.ok()) return fail(notes.status());
    if (Status s = packs::merge(*notes, &all.contents); !s.ok()) return fail(s);
  }
  packs::drop_proven(all.contents, &all.held);
  print_held(all);
  // First what would be lost if the inputs were removed once there is an output.
  if (!options.held.empty()) {
    if (Status s = write_output(all.held, options.held, options.write); !s.ok()) return fail(s);
  }
  const packs::Contents &merged = all.contents;
  const builder::MergeReport &report = all.report;
  if (Status s = write_output(merged, options.output, options.write); !s.ok()) return fail(s);
  const std::size_t held = held_binaries(all);
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.output},
                         {"programs", merged.programs.size()},
                         {"targets", merged.targets.size()},
                         {"held", held_json(all)},
                         {"choices", builder::merge_report_json(merged, report)}});
  } else {
    print(builder::merge_report_text(builder::printable_contents(merged), report) +
          fmt::format(
              "{}: {}, {} from {}{}\n", options.output, count(merged.programs.size(), "program"),
              count(merged.targets.size(), "target"), count(options.inputs.size(), "pack"),
              held == 0 ? ""
                        : fmt::format("; {} held",
                                      held == 1 ? "1 binary" : fmt::format("{} binaries", held))));
  }
  return kDone;
}

}  // namespace

void add_merge(CLI::App &app, Command *command) {
  auto options = std::make_shared<MergeArguments>();
  CLI::App *sub =
      app.add_subcommand("merge", "Combine packs: the union of their programs and targets");
  sub->add_option("packs", options->inputs, "Packs to combine, and known-bad notes (.toml) to add")
      ->required();
  sub->add_option("--base", options->base,
                  "Take programs only from this pack; from the others targets and records")
      ->type_name("PACK");
  CLI::Option *proven =
      sub->add_flag("--proven", options->proven,
                    "With --base: from the others only binaries whose results were proven; "
                    "names the rest")
          ->needs("--base");
  sub->add_option("--held", options->held,
                  "With --proven: pack to write with the rest, for 'kiln build --require-proof' "
                  "on machines with these devices")
      ->type_name("PACK")
      ->needs(proven);
  sub->add_option("--key", options->keys,
                  "With --proven: public key (file or text); proofs count only in packs that it "
                  "signed; repeatable")
      ->type_name("KEY")
      ->allow_extra_args(false)
      ->needs(proven);
  add_output_option(*sub, &options->output, "Pack to write")->required();
  add_compress_option(*sub, &options->write);
  add_json_flag(*sub, &options->json);
  sub->callback([=] {
    auto &inputs = options->inputs;
    const auto notes =
        std::stable_partition(inputs.begin(), inputs.end(),
                              [](const std::string &path) { return !path.ends_with(".toml"); });
    options->notes.assign(notes, inputs.end());
    inputs.erase(notes, inputs.end());
    *command = [=] { return run(*options); };
  });
}

}  // namespace kiln::cli

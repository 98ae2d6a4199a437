// SPDX-License-Identifier: Apache-2.0
// kiln pack slice: makes a pack of chosen targets and programs.
#include <set>

#include <fmt/format.h>

#include "builder/cli/shared/common_options.hpp"
#include "builder/inspect/pack_slice.hpp"
#include "builder/inspect/printable.hpp"

namespace kiln::cli {

namespace {

struct SliceArguments {
  std::string input;
  std::string output;
  builder::SliceRequest request;
  std::vector<std::string> without;  // "source", "il"
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

builder::Cut without_forms(const SliceArguments &options, builder::Cut cut) {
  for (const std::string &form : options.without) {
    (form == "source" ? cut.without_source : cut.without_il) = true;
  }
  return cut;
}

// Warns of each variant that no device can load.
void warn_of_empty_variants(const packs::Contents &slice) {
  std::set<packs::Digest> with_binary;
  for (const packs::Target &target : slice.targets) {
    for (const auto *list : {&target.binaries, &target.intermediates}) {
      for (const packs::Binary &binary : *list) with_binary.insert(binary.variant);
    }
  }
  for (const packs::Program &program : slice.programs) {
    for (const packs::Variant &variant : program.variants) {
      if (variant.source || variant.il32 || variant.il64 || with_binary.contains(variant.hash)) {
        continue;
      }
      complain(builder::printable_line(
          fmt::format("warning: {}/{} has no source, IL or binary: no device can load it",
                      program.name, variant.name)));
    }
  }
}

int slice_as_asked(const SliceArguments &options) {
  const builder::SliceRequest &request = options.request;
  const auto open = read_pack(options.input);
  if (!open.ok()) return fail(open.status());
  if (Status s = check_output(options.output, {options.input}); !s.ok()) return fail(s);
  const auto cut = builder::find_slice(open->contents, request);
  if (!cut.ok()) return fail({cut.status().code, options.input + ": " + cut.status().message});
  const packs::Contents slice = builder::cut_contents(open->contents, without_forms(options, *cut));
  packs::WriteOptions write = options.write;
  if (!write.purpose) write.purpose = packs::Purpose::ready;  // mostly for a device
  if (Status s = write_output(slice, options.output, write); !s.ok()) return fail(s);
  if (!options.without.empty()) warn_of_empty_variants(slice);
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

int run(const SliceArguments &options) {
  const builder::SliceRequest &request = options.request;
  const bool chosen = !request.targets.empty() || !request.programs.empty();
  if (chosen || options.write.purpose || !options.without.empty()) return slice_as_asked(options);
  return fail(
      {Code::bad_argument, "slice needs one of --target, --program, --without and --compress"});
}

}  // namespace

void add_slice(CLI::App &app, Command *command) {
  auto options = std::make_shared<SliceArguments>();
  builder::SliceRequest &request = options->request;
  CLI::App *sub =
      app.add_subcommand("slice", "Copy some targets or programs of a pack into a new one");
  sub->add_option("pack", options->input, "Pack to copy from")->required();
  add_output_option(*sub, &options->output, "Pack to write")->required();
  const auto add = [sub](const char *name, std::vector<std::string> *words, const char *type,
                         const char *what) {
    sub->add_option(name, *words, what)->type_name(type)->allow_extra_args(false);
  };
  add("--target", &request.targets, "TARGET",
      "Keep targets that TARGET matches: a key, a key's hash, or a glob over label, platform, "
      "device name, family and vendor profile; repeatable");
  add("--program", &request.programs, "NAME", "Keep this program");
  sub->add_option("--without", options->without,
                  "Leave out 'source' or 'il' of every program: what then has no binary for a "
                  "device does not load there")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"source", "il"}).description(""))
      ->type_name("FORM,...");
  add_compress_option(*sub, &options->write);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli

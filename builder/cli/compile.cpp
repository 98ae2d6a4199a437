// SPDX-License-Identifier: Apache-2.0
// kiln compile: the host step.
#include <fmt/format.h>

#include "builder/base/atomic_text_file.hpp"
#include "builder/cli/common_options.hpp"
#include "builder/compile/prove_text.hpp"
#include "builder/inspect/pack_check.hpp"

namespace kiln::cli {
namespace {

struct CompileArguments {
  std::string manifest;
  std::string output;
  std::string depfile;
  HostTools tools;
  bool require_il = false;
  bool keep_going = false;
  bool json = false;
};

// Returns a rule for Make, as compilers write it: the output depends on the files. Ninja reads it,
// too.
std::string depfile_text(const std::string &output, const std::set<std::string> &files) {
  const auto escaped = [](const std::string &path) {
    std::string text;
    for (const char c : path) {
      if (c == ' ' || c == '#') text += '\\';
      if (c == '$') text += '$';
      text += c;
    }
    return text;
  };
  std::string text = escaped(output) + ":";
  for (const std::string &file : files) text += " \\\n  " + escaped(file);
  return text + "\n";
}

// Reads a spool as read_input() reads a manifest.
std::optional<Input> read_recorded(const std::string &folder, const HostTools &tools,
                                   int *exit_code) {
  auto spool = open_spool(folder);
  if (!spool.ok()) {
    *exit_code = fail(spool.status());
    return std::nullopt;
  }
  if (Status s = builder::check_variants(spool->contents); !s.ok()) {
    *exit_code = fail(in_pack(folder, s));
    return std::nullopt;
  }
  if (!spool->changing.empty()) {
    complain(fmt::format(
        "warning: {} differ at each start, so no pack can serve them: see 'kiln pack inspect {}'",
        count(spool->changing.size(), "program"), folder));
  }
  if (!spool->linked.empty()) {
    complain(
        fmt::format("warning: {} linked of several programs or with options, which is not built "
                    "offline: 'kiln pack inspect {}' names them, and an overlay serves them",
                    count(spool->linked.size(), "program"), folder));
  }
  Input input{std::move(spool->contents), {}, {}};
  const auto unproven = builder::prove_spool(folder, tools.clang, &input.contents);
  if (!unproven.ok()) {
    const bool no_clang = unproven.status().code == Code::not_found;
    if (no_clang) pass_on(unproven.status().message);
    *exit_code = no_clang ? kNoDevice : fail(unproven.status());
    return std::nullopt;
  }
  for (const Status &status : *unproven) {
    complain(status.message);
    input.failures.push_back({"", "", status});
  }
  return input;
}

int run(const CompileArguments &options) {
  supervise_command();
  const bool manifest = is_manifest(options.manifest);
  const bool spool = !manifest && is_spool(options.manifest);
  if (!spool && !manifest) {
    return fail(
        {Code::bad_argument,
         fmt::format(
             "{} is neither a manifest, a file whose name ends in .toml, nor a spool, a folder",
             options.manifest)});
  }
  if (spool && !options.depfile.empty()) {
    return fail({Code::bad_argument, "--depfile takes a manifest, not a spool"});
  }
  if (Status s = check_output(options.output, {options.manifest}); !s.ok()) return fail(s);
  int exit_code = kDone;
  const auto input = spool ? read_recorded(options.manifest, options.tools, &exit_code)
                           : read_input(options.manifest, options.tools, &exit_code);
  if (!input) return exit_code;
  const packs::Contents &contents = input->contents;
  const bool failed = !input->failures.empty() && !options.keep_going;
  if (failed || contents.programs.empty() || (options.require_il && !input->without_il.empty())) {
    const char *way_on = spool && failed ? "; -k leaves out what is not proven" : "";
    return fail({Code::failed, "nothing was written to " + options.output + way_on});
  }
  std::size_t variants = 0;
  for (const packs::Program &program : contents.programs) variants += program.variants.size();
  if (!options.depfile.empty()) {
    Status s =
        builder::write_whole_file(options.depfile, depfile_text(options.output, input->files));
    if (!s.ok()) return fail(s);
  }
  if (Status s = write_output(contents, options.output); !s.ok()) return fail(s);
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.output},
                         {"programs", contents.programs.size()},
                         {"variants", variants},
                         {"without_il", input->without_il.size()},
                         {"failed", input->failures.size()}});
  } else {
    const std::size_t without = input->without_il.size();
    print(fmt::format("{}: {}, {}, {}{}\n", options.output,
                      count(contents.programs.size(), "program"), count(variants, "variant"),
                      spool ? "source" : "source and SPIR-V",
                      without == 0 ? "" : fmt::format(", {} of them without SPIR-V", without)));
  }
  return input->exit_code();
}

}  // namespace

void add_compile(CLI::App &app, Command *command) {
  auto options = std::make_shared<CompileArguments>();
  CLI::App *sub = app.add_subcommand(
      "compile", "Make a base pack of source and validated SPIR-V; needs no device");
  sub->add_option("manifest", options->manifest,
                  "Manifest (.toml), or folder that 'kiln record' wrote")
      ->required();
  add_output_option(*sub, &options->output, "Base pack to write")->required();
  sub->add_option("--depfile", options->depfile,
                  "Write the names of all files that the pack is made of, for Make and Ninja")
      ->type_name("FILE");
  sub->add_flag("--require-il", options->require_il,
                "Fail if a variant has no SPIR-V, instead of packing its source alone");
  sub->add_flag("-k,--keep-going", options->keep_going,
                "Write the pack even if some variants fail");
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli

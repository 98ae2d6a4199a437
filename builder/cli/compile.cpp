// SPDX-License-Identifier: Apache-2.0
// kiln compile: the host step.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "builder/base/whole_file.hpp"
#include "builder/cli/shared/common_options.hpp"
#include "builder/cli/shared/compiling.hpp"
#include "builder/compile/check_text.hpp"
#include "builder/compile/recorded_parameters.hpp"
#include "builder/inspect/pack_check.hpp"
#include "builder/manifest/sources.hpp"
#include "builder/store/store.hpp"
#include "builder/under_layer/spool.hpp"
#include "kiln/packs/pack.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

// For the parameters of all recorded kernels, which a pack can do without.
constexpr std::chrono::seconds kTimeForParameters{60};

struct CompileArguments {
  std::vector<std::string> inputs;
  std::string build_options;
  std::vector<std::string> include_dirs;
  std::string program;
  std::string output;
  std::string depfile;
  builder::HostStepOptions host;
  HostTools tools;
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
  auto spool = builder::read_spool(folder);
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
  Input input{std::move(spool->contents), {}, {}};
  const auto unproven = builder::check_spool_texts(folder, tools.clang, &input.contents);
  if (!unproven.ok()) {
    const bool no_clang = unproven.status().code == Code::not_found;
    if (no_clang) pass_on(unproven.status().message);
    *exit_code = no_clang ? kNoDevice : fail(unproven.status());
    return std::nullopt;
  }
  builder::add_parameters(tools.clang, kTimeForParameters, &input.contents);
  for (const Status &status : *unproven) {
    complain(status.message);
    input.failures.push_back({"", "", status});
  }
  return input;
}

bool is_source(const std::string &path) { return fs::path(path).extension() == ".cl"; }

// Compiles sources that have no manifest.
std::optional<Input> read_sources(const CompileArguments &options, int *exit_code) {
  const builder::Sources sources{{options.inputs.begin(), options.inputs.end()},
                                 options.program,
                                 options.build_options,
                                 {options.include_dirs.begin(), options.include_dirs.end()}};
  return compile_manifest(builder::manifest_of(sources),
                          builder::path_for_sources(sources).string(), options.tools, options.host,
                          exit_code);
}

Status check_inputs(const CompileArguments &options, bool sources, bool spool) {
  const std::string &first = options.inputs[0];
  if (!sources && options.inputs.size() > 1) {
    return {Code::bad_argument, "of several inputs each must be a source, a file called *.cl"};
  }
  if (!sources && !spool && !is_manifest(first)) {
    return {Code::bad_argument,
            fmt::format("{} is no manifest, a file called *.toml, no source, a file called *.cl, "
                        "and no spool, a folder",
                        first)};
  }
  if (spool && !options.depfile.empty()) {
    return {Code::bad_argument, "--depfile takes a manifest or sources, not a spool"};
  }
  const bool only_for_sources =
      !options.build_options.empty() || !options.program.empty() || !options.include_dirs.empty();
  if ((sources || spool) && !options.host.roots.empty()) {
    return {Code::bad_argument, "--root is for the paths in a manifest"};
  }
  if (!sources && only_for_sources) {
    return {Code::bad_argument,
            "--build-options, -I and --program are for sources: a manifest names its own"};
  }
  if (!options.program.empty() && options.inputs.size() > 1) {
    return {Code::bad_argument, "--program names the program of one source, not of several"};
  }
  return check_output(options.output, options.inputs);
}

// Takes equal blobs from the pack at `path`, so that the writer copies their compressed bytes:
// compressing long sources again costs more than all else if nothing changed. Damaged blobs are not
// taken.
void take_compressed(const std::string &path, packs::Contents *contents) {
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents old;
  if (!packs::Pack::open_file(path.c_str(), &pack).ok()) return;
  if (!packs::read_contents(pack, &old).ok()) return;
  std::map<packs::Digest, packs::BlobSource> known;
  const auto blobs_of = [](packs::Variant &variant) {
    return std::array{&variant.source, &variant.il32, &variant.il64};
  };
  for (packs::Program &program : old.programs) {
    for (packs::Variant &variant : program.variants) {
      for (const auto *blob : blobs_of(variant)) {
        packs::Bytes bytes;
        if (!*blob || (*blob)->blob().codec() != packs::Codec::zstd) continue;
        if ((*blob)->read(&bytes).ok()) known.emplace((*blob)->name(), **blob);
      }
    }
  }
  for (packs::Program &program : contents->programs) {
    for (packs::Variant &variant : program.variants) {
      for (auto *blob : blobs_of(variant)) {
        if (!*blob) continue;
        if (const auto found = known.find((*blob)->name()); found != known.end()) {
          *blob = found->second;
        }
      }
    }
  }
}

int run(const CompileArguments &options) {
  supervise_command();
  std::error_code ignored;
  const bool sources = std::all_of(options.inputs.begin(), options.inputs.end(), is_source);
  const bool spool =
      !sources && !is_manifest(options.inputs[0]) && fs::is_directory(options.inputs[0], ignored);
  if (Status s = check_inputs(options, sources, spool); !s.ok()) return fail(s);
  int exit_code = kDone;
  auto input = sources ? read_sources(options, &exit_code)
               : spool ? read_recorded(options.inputs[0], options.tools, &exit_code)
                       : read_input(options.inputs[0], options.tools, options.host, &exit_code);
  if (!input) return exit_code;
  packs::Contents &contents = input->contents;
  const bool failed = !input->failures.empty() && !options.keep_going;
  if (failed || contents.programs.empty()) {
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
  take_compressed(options.output, &contents);
  if (Status s = write_output(contents, options.output); !s.ok()) return fail(s);
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.output},
                         {"programs", contents.programs.size()},
                         {"variants", variants},
                         {"without_il", input->without_il.size()},
                         {"stored", input->stored},
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
  options->host.store = builder::default_store();
  CLI::App *sub = app.add_subcommand(
      "compile", "Make a base pack of source and validated SPIR-V; needs no device");
  sub->add_option("input", options->inputs,
                  "Manifest (.toml), folder that 'kiln record' wrote, or sources (.cl); each "
                  "source is a program with all its kernels")
      ->required();
  add_output_option(*sub, &options->output, "Base pack to write")->required();
  sub->add_option("--build-options", options->build_options,
                  "Build options of the sources, as for clBuildProgram")
      ->type_name("TEXT");
  sub->add_option("-I", options->include_dirs,
                  "Folder with included files of the sources; repeatable")
      ->type_name("DIR")
      ->expected(1)
      ->take_all();
  add_root_option(*sub, &options->host.roots);
  add_program_option(*sub, &options->program,
                     "Name of the only source's program; default: the file's, without .cl");
  sub->add_option("--depfile", options->depfile,
                  "Write the names of all files that the pack is made of, for Make and Ninja")
      ->type_name("FILE");
  sub->add_flag("-k,--keep-going", options->keep_going,
                "Write the pack even if some variants fail");
  add_jobs_option(*sub, &options->host.jobs);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli

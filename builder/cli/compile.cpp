// kiln compile: the host step.
#include <fmt/format.h>

#include "builder/cli/common.hpp"

namespace kiln::cli {
namespace {

struct Options {
  std::string manifest;
  std::string output;
  HostTools tools;
  bool json = false;
};

int run(const Options &options) {
  if (!is_manifest(options.manifest)) {
    complain(fmt::format("{} is not a manifest: expected a file whose name ends in .toml",
                         options.manifest));
    return kUsage;
  }
  int exit_code = check_output(options.output, {options.manifest});
  if (exit_code != kDone) return exit_code;
  const auto contents = read_input(options.manifest, options.tools, &exit_code);
  if (!contents) return exit_code;
  std::size_t variants = 0;
  for (const packs::Program &program : contents->programs) variants += program.variants.size();
  if (exit_code != kDone) {
    complain("nothing was written to " + options.output);
    return exit_code;
  }
  if (const int code = write_output(*contents, options.output); code != kDone) return code;
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.output},
                         {"programs", contents->programs.size()},
                         {"variants", variants}});
  } else {
    print(fmt::format("{}: {}, {}, source and SPIR-V\n", options.output,
                      count(contents->programs.size(), "program"), count(variants, "variant")));
  }
  return kDone;
}

}  // namespace

void add_compile(CLI::App &app, Command *command) {
  auto options = std::make_shared<Options>();
  CLI::App *sub =
      app.add_subcommand("compile", "Make a base pack: source and validated SPIR-V, no device");
  sub->add_option("manifest", options->manifest, "Manifest, a .toml file")->required();
  sub->add_option("-o,--output", options->output, "Base pack to write")->required();
  add_host_tools(*sub, &options->tools);
  sub->add_flag("--json", options->json, "Print JSON, schema 1");
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli

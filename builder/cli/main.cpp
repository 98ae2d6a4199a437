// kiln: one executable, one file a subcommand.
#include <csignal>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "builder/base/suggest.hpp"
#include "builder/cli/common.hpp"
#include "builder/cli/fixed_addresses.hpp"

namespace {

using namespace kiln::cli;

std::vector<std::string> subcommand_names(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options()) {
    for (const std::string &name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The command that was given, down to "startup" of "bench startup".
const CLI::App &chosen_command(const CLI::App &app) {
  const CLI::App *where = &app;
  while (!where->get_subcommands().empty()) where = where->get_subcommands().front();
  return *where;
}

std::string full_name(const CLI::App &app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : full_name(*app.get_parent()) + " " + app.get_name();
}

// The first word that the parser did not know, with the nearest that it does know.
std::string explain_extras(const CLI::App &app) {
  const CLI::App &where = chosen_command(app);
  const std::vector<std::string> commands = subcommand_names(where);
  for (const std::string &word : app.remaining(true)) {
    if (word.size() > 1 && word.front() == '-') {
      const std::string name = word.substr(0, word.find('='));
      return fmt::format("unknown option {}: {}", name,
                         kiln::builder::expected_one_of(name, option_names(where)));
    }
    if (!commands.empty()) {
      return fmt::format("unknown command {}: {}", word,
                         kiln::builder::expected_one_of(word, commands));
    }
    return fmt::format("{} takes no argument {}", where.get_name(), word);
  }
  if (commands.empty()) return {};
  return "no command: " + kiln::builder::expected_one_of("", commands);
}

int misuse(const CLI::App &app, const CLI::ParseError &error) {
  const std::string text = explain_extras(app);
  complain(text.empty() ? error.what() : text);
  complain(fmt::format("see '{} --help'", full_name(chosen_command(app))));
  return kUsage;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc > 1 && std::string_view(argv[1]) == "build") restart_with_fixed_addresses(argv);
  std::signal(SIGPIPE, SIG_IGN);  // a failed write is an error like any other
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app{"Compiles OpenCL kernels where they will run, once, and ships the result."};
  app.name("kiln");
  app.set_version_flag("--version", "kiln " KILN_VERSION_TEXT);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 some jobs or checks failed, 2 usage, 3 bad manifest,\n"
      "4 bad pack, 5 no device or tool, 130 interrupted.");
  Command command;
  add_devices(app, &command);
  add_compile(app, &command);
  add_plan(app, &command);
  add_build(app, &command);
  add_crosscheck(app, &command);
  add_tune(app, &command);
  add_provision(app, &command);
  add_warm(app, &command);
  add_merge(app, &command);
  add_overlay(app, &command);
  add_inspect(app, &command);
  add_extract(app, &command);
  add_verify(app, &command);
  add_explain(app, &command);
  add_run(app, &command);
  add_bench(app, &command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &done) {
    return app.exit(done);
  } catch (const CLI::ParseError &error) {
    return misuse(app, error);
  }
  try {
    return end_output(command());
  } catch (const std::exception &error) {
    complain(error.what());
    return kSomeFailed;
  }
}

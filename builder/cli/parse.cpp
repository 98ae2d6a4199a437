// SPDX-License-Identifier: Apache-2.0
// Runs CLI11, and words its errors as Kiln does, with the nearest known word.
#include "builder/cli/parse.hpp"

#include <csignal>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/process/fork_call.hpp"

namespace kiln::cli {
namespace {

constexpr const char *kExitCodes =
    "Exit codes: 0 done, 1 some jobs or checks failed, 2 usage, 3 bad manifest,\n"
    "4 bad pack, 5 no device or tool, 130 interrupted.";

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

// Returns the command that was given, down to "startup" of "bench startup".
const CLI::App &chosen_command(const CLI::App &app) {
  const CLI::App *where = &app;
  while (!where->get_subcommands().empty()) where = where->get_subcommands().front();
  return *where;
}

std::string full_name(const CLI::App &app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : full_name(*app.get_parent()) + " " + app.get_name();
}

// Explains the first word that the parser does not know, with the nearest word that it knows.
std::string explain_extras(const CLI::App &app) {
  const CLI::App &where = chosen_command(app);
  const std::vector<std::string> commands = subcommand_names(where);
  for (const std::string &word : app.remaining(true)) {
    if (word == "--") break;  // the rest is for the application
    if (word.size() > 1 && word.front() == '-') {
      const std::string name = word.substr(0, word.find('='));
      return fmt::format("unknown option {}: {}", name,
                         builder::expected_one_of(name, option_names(where)));
    }
    if (!commands.empty()) {
      return fmt::format("unknown command {}: {}", word, builder::expected_one_of(word, commands));
    }
    return fmt::format("{} takes no argument {}", where.get_name(), word);
  }
  if (commands.empty()) return {};
  return "no command: " + builder::expected_one_of("", commands);
}

int misuse(const CLI::App &app, const CLI::ParseError &error) {
  const std::string text = explain_extras(app);
  complain(text.empty() ? error.what() : text);
  complain(fmt::format("see '{} --help'", full_name(chosen_command(app))));
  return kUsage;
}

using Handler = void (*)(int);

// The handlers with which this process was started.
Handler pipe_handler = SIG_DFL;
Handler file_size_handler = SIG_DFL;

// Ignores the signals of failed writes, so that a failed write is an error like any other.
void ignore_signals() {
  pipe_handler = std::signal(SIGPIPE, SIG_IGN);
  file_size_handler = std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace

CLI::Validator as_validator(Status (*check)(const std::string &word), const char *type_name) {
  return {[check](const std::string &word) { return check(word).message; }, type_name};
}

void restore_signals() {
  std::signal(SIGPIPE, pipe_handler);
  std::signal(SIGXFSZ, file_size_handler);
}

int run_command_line(const char *description, std::initializer_list<AddCommand> commands, int argc,
                     char **argv) {
  CLI::App app{description};
  app.name(kToolName);
  app.set_version_flag("--version", std::string(kToolName) + " " KILN_VERSION_TEXT);
  app.require_subcommand(1);
  app.footer(kExitCodes);
  Command command;
  for (const AddCommand add : commands) add(app, &command);
  ignore_signals();
  // The parent may have SIGCHLD ignored; then children could not be waited for.
  std::signal(SIGCHLD, SIG_DFL);
  builder::pass_on_interrupts();
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

}  // namespace kiln::cli

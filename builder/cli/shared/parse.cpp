// SPDX-License-Identifier: Apache-2.0
// Runs CLI11, and words its errors as Kiln does, with the nearest known word.
#include "builder/cli/shared/parse.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "builder/base/names.hpp"

namespace kiln::cli {
namespace {

constexpr const char *kExitCodes =
    "Exit codes: 0 done, 1 some jobs or checks failed, 2 usage, 3 bad manifest, 4 bad pack, 5 no "
    "device or tool, 130 interrupted.";

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

constexpr std::size_t kTextColumn = 26;  // where texts begin behind the names of options
constexpr std::size_t kWidestHelp = 100;
constexpr std::size_t kNarrowestHelp = 60;

// Returns the width of help in columns: COLUMNS if it is set, else the width of the terminal,
// within limits.
std::size_t help_width() {
  const std::string columns = variable("COLUMNS");
  const std::size_t width = columns.empty() ? builder::terminal_columns(STDOUT_FILENO)
                                            : std::strtoul(columns.c_str(), nullptr, 10);
  return std::clamp(width, kNarrowestHelp, kWidestHelp);
}

// Returns the text in lines of at most `width` columns, each but the first after `indent` blanks.
std::string wrapped(const std::string &text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (column > indent && column + 1 + end - at > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out.append(text, at, end - at);
    column += end - at;
    at = end + 1;
  }
  return out;
}

// Returns a name and its text, as help shows them.
std::string entry(const std::string &name, const std::string &text, std::size_t width) {
  std::string out = "  " + name;
  out += out.size() + 2 > kTextColumn ? "\n" + std::string(kTextColumn, ' ')
                                      : std::string(kTextColumn - out.size(), ' ');
  return out + wrapped(text, kTextColumn, width) + "\n";
}

std::string in_capitals(std::string word) {
  for (char &c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return word;
}

std::string positional_text(const CLI::Option &option) {
  const std::string name =
      in_capitals(option.get_name()) + (option.get_items_expected_max() > 1 ? "..." : "");
  return option.get_required() ? name : "[" + name + "]";
}

// Returns "-o, --output PACK".
std::string option_text(const CLI::Option &option) {
  std::string text;
  for (const std::string &name : option.get_snames()) text += "-" + name + ", ";
  for (const std::string &name : option.get_lnames()) text += "--" + name + ", ";
  text.resize(text.size() - 2);
  if (option.get_expected_max() == 0) return text;  // a flag
  return text + " " + (option.get_type_name().empty() ? "TEXT" : option.get_type_name());
}

std::string full_name(const CLI::App &app) {
  return app.get_parent() == nullptr ? app.get_name()
                                     : full_name(*app.get_parent()) + " " + app.get_name();
}

// Writes help: names at the left, texts in a column, wrapped to the terminal.
class Help : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App *app, std::string, CLI::AppFormatMode) const override {
    const std::size_t width = help_width();
    const auto options = app->get_options();
    const auto commands = app->get_subcommands([](const CLI::App *) { return true; });
    std::string positionals, named, words;
    for (const CLI::Option *option : options) {
      std::string text = option->get_description();
      if (option->get_positional()) {
        words += " " + positional_text(*option);
        positionals += entry(positional_text(*option), text, width);
        continue;
      }
      if (option->get_required())
        words += " " + option_text(*option).substr(option_text(*option).rfind("--"));
      if (!option->get_default_str().empty() && option->get_expected_max() != 0)
        text += "; default: " + option->get_default_str();
      named += entry(option_text(*option), text, width);
    }
    std::string out = wrapped(app->get_description(), 0, width) + "\n";
    out += "Usage: " +
           wrapped(full_name(*app) + (named.empty() ? "" : " [OPTIONS]") +
                       (commands.empty() ? "" : " COMMAND") + words,
                   7, width) +
           "\n";
    if (!commands.empty()) {
      out += "\nCommands:\n";
      for (const CLI::App *command : commands)
        out += entry(command->get_name(), command->get_description(), width);
    }
    if (!positionals.empty()) out += "\nArguments:\n" + positionals;
    if (!named.empty()) out += "\nOptions:\n" + named;
    return out + "\n" + wrapped(app->get_footer(), 0, width) + "\n";
  }
};

// Returns the command that was given, down to "slice" of "pack slice".
const CLI::App &chosen_command(const CLI::App &app) {
  const CLI::App *where = &app;
  while (!where->get_subcommands().empty()) where = where->get_subcommands().front();
  return *where;
}

// Returns the application in the words, if they have one and no "--" before it; else none.
std::optional<std::string> unmarked_application(const CLI::App &app, const CLI::App &where) {
  const CLI::Option *command = where.get_option_no_throw("command");
  const bool has_mark = !app.remaining().empty();  // what comes after it
  if (command == nullptr || command->count() == 0 || has_mark) return std::nullopt;
  return command->results().front();
}

bool is_option(const std::string &word) { return word.size() > 1 && word.front() == '-'; }

// Explains the first word that the parser does not know, with the nearest word that it knows.
std::string explain_extras(const CLI::App &app) {
  const CLI::App &where = chosen_command(app);
  const std::vector<std::string> commands = subcommand_names(where);
  std::vector<std::string> words = where.remaining();  // before "--"
  const auto option = std::find_if(words.begin(), words.end(), is_option);
  if (option == words.end()) words = app.remaining(true);
  for (const std::string &word : words) {
    if (word == "--") break;  // the rest is for the application
    if (is_option(word)) {
      const std::string name = word.substr(0, word.find('='));
      std::string text = fmt::format("unknown option {}: {}", name,
                                     builder::expected_one_of(name, option_names(where)));
      if (const auto application = unmarked_application(app, where)) {
        text +=
            fmt::format("; an application with options comes after \"--\": {} [OPTIONS] -- {} ...",
                        full_name(where), *application);
      }
      return text;
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

// Prints the help of `kiln help WORDS...`.
int help(const CLI::App &app, int argc, char **argv) {
  const CLI::App *command = &app;
  for (int i = 2; i < argc; ++i) {
    const auto found = command->get_subcommands(
        [&](const CLI::App *subcommand) { return subcommand->get_name() == argv[i]; });
    if (found.empty()) {
      complain(fmt::format("unknown command {}: {}", argv[i],
                           builder::expected_one_of(argv[i], subcommand_names(*command))));
      return kUsage;
    }
    command = found.front();
  }
  print_as_is(command->help());
  return kDone;
}

}  // namespace

CLI::Validator as_validator(Status (*check)(const std::string &word), const char *type_name) {
  return {[check](const std::string &word) { return check(word).message; }, type_name};
}

int run_command_line(const char *name, const char *description,
                     std::initializer_list<AddCommand> commands, int argc, char **argv) {
  CLI::App app{description};
  app.name(name);
  app.set_version_flag("-V,--version", "kiln " KILN_VERSION_TEXT, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.formatter(std::make_shared<Help>());
  app.require_subcommand(1);
  app.allow_windows_style_options(false);  // "/packs/app.kiln" is a path
  app.footer(kExitCodes);
  Command command;
  for (const AddCommand add : commands) add(app, &command);
  try {
    if (argc > 1 && std::string_view(argv[1]) == "help") return end_output(help(app, argc, argv));
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    print_as_is(chosen_command(app).help());
    return end_output(kDone);
  } catch (const CLI::Success &version) {
    print_as_is(std::string(version.what()) + "\n");
    return end_output(kDone);
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

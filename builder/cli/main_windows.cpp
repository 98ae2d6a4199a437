// SPDX-License-Identifier: Apache-2.0
// kiln.exe: the subcommands that look into packs, and those that launch them.
#include <cstdio>
#include <string>
#include <vector>

#include <fcntl.h>
#include <io.h>
#include <sodium.h>

#include "builder/cli/shared/parse.hpp"
#include "packs/base/windows.hpp"

#include <shellapi.h>

namespace {

void add_pack(CLI::App &app, kiln::cli::Command *command) {
  using namespace kiln::cli;
  CLI::App *group = app.add_subcommand("pack", "Inspect and check packs");
  group->require_subcommand(1);
  for (const AddCommand add : {add_inspect, add_verify}) add(*group, command);
}

// Returns the words of the command line in UTF-8, as all of Kiln's paths are.
std::vector<std::string> words_of_command_line() {
  int count = 0;
  wchar_t **const words = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> all;
  for (int i = 0; words != nullptr && i < count; ++i) all.push_back(kiln::packs::narrow(words[i]));
  LocalFree(words);
  return all;
}

}  // namespace

int main() {
  using namespace kiln::cli;
  // What is printed is UTF-8, with the line ends of every other system.
  SetConsoleOutputCP(CP_UTF8);
  for (std::FILE *stream : {stdout, stderr}) _setmode(_fileno(stream), _O_BINARY);
  [[maybe_unused]] const int chosen = sodium_init();
  std::vector<std::string> words = words_of_command_line();
  std::vector<char *> argv;
  for (std::string &word : words) argv.push_back(word.data());
  const int code = run_command_line(
      "kiln", "Looks into packs of OpenCL programs, and launches them.",
      {add_devices, add_pack, add_run, add_explain}, static_cast<int>(argv.size()), argv.data());
  std::fflush(nullptr);
  _exit(code);  // no driver's exit handler runs
}

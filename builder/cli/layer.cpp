// SPDX-License-Identifier: Apache-2.0
// kiln record and kiln serve: run an application that does not know Kiln, with the layer between it
// and its driver.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include "builder/base/this_process.hpp"
#include "builder/cli/common_options.hpp"
#include "builder/cli/parse.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kLayer[] = "libkiln_layer.so";

struct LayerArguments {
  std::vector<std::string> command;
  std::string layer;
  std::string spool;               // record
  std::vector<std::string> packs;  // serve
  std::string overlay;             // serve
  std::string report;
};

// Finds the layer: beside this executable in a build, in the library folder of an installation.
std::string find_layer() {
  std::error_code error;
  const fs::path folder = builder::executable_folder();
  for (const fs::path &place : {folder / kLayer, folder / KILN_LAYER_FROM_BIN / kLayer}) {
    if (fs::is_regular_file(place, error)) return fs::weakly_canonical(place, error).string();
  }
  return "";
}

// Makes the path absolute, because the command may change its folder.
std::string whole_path(const std::string &path) {
  std::error_code error;
  return path.empty() ? path : fs::absolute(path, error).string();
}

// Sets a variable of the environment, unless the value is empty.
void set(const char *name, const std::string &value) {
  if (!value.empty()) setenv(name, value.c_str(), 1);
}

// Whether the path has a colon, which separates the entries of lists in the environment.
bool has_colon(const std::string &path) {
  if (path.find(':') == std::string::npos) return false;
  complain(path + ": a path with a colon cannot be handed to the layer");
  return true;
}

int execute(const LayerArguments &arguments) {
  const std::string layer = arguments.layer.empty() ? find_layer() : whole_path(arguments.layer);
  std::error_code error;
  if (layer.empty() || !fs::is_regular_file(layer, error)) {
    complain(layer.empty() ? std::string("no ") + kLayer + " beside kiln; expected --layer FILE"
                           : arguments.layer + ": no such file");
    return kNoDevice;
  }
  if (has_colon(layer)) return kUsage;
  const char *others = std::getenv("OPENCL_LAYERS");
  const bool alone = others == nullptr || *others == '\0';
  set("OPENCL_LAYERS", alone ? layer : std::string(others) + ":" + layer);
  std::vector<char *> words;
  for (const std::string &word : arguments.command)
    words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  restore_signals();
  execvp(words[0], words.data());
  complain(arguments.command[0] + ": " + std::strerror(errno));
  return kNoDevice;
}

int record(const LayerArguments &arguments) {
  std::error_code error;
  fs::create_directories(arguments.spool, error);
  if (error || access(arguments.spool.c_str(), W_OK | X_OK) != 0) {
    const std::string why = error ? error.message() : std::strerror(errno);
    return fail({Code::failed, arguments.spool + ": " + why});
  }
  set("KILN_LAYER", "record");
  set("KILN_SPOOL", whole_path(arguments.spool));
  set("KILN_REPORT", whole_path(arguments.report));
  return execute(arguments);
}

int serve(const LayerArguments &arguments) {
  if (arguments.packs.empty() && arguments.overlay.empty()) {
    return fail(
        {Code::bad_argument, "kiln serve needs --pack or --overlay; see 'kiln serve --help'"});
  }
  std::string packs;
  for (const std::string &pack : arguments.packs) {
    if (has_colon(whole_path(pack))) return kUsage;
    packs += (packs.empty() ? "" : ":") + whole_path(pack);
  }
  set("KILN_LAYER", "serve");
  set("KILN_PACK", packs);
  set("KILN_OVERLAY", whole_path(arguments.overlay));
  set("KILN_REPORT", whole_path(arguments.report));
  return execute(arguments);
}

void add_command(CLI::App &sub, LayerArguments *arguments) {
  sub.add_option("command", arguments->command, "After \"--\": the application and its arguments")
      ->required();
  add_report_option(sub, &arguments->report, "Append a line of JSON for each program");
  sub.add_option("--layer", arguments->layer, "The layer; default: libkiln_layer.so beside kiln")
      ->type_name("FILE");
}

}  // namespace

void add_record(CLI::App &app, Command *command) {
  auto arguments = std::make_shared<LayerArguments>();
  CLI::App *sub =
      app.add_subcommand("record", "Run an application, and record the programs that it builds");
  add_output_option(*sub, &arguments->spool, "Folder to add to, for 'kiln compile'", "DIR")
      ->required();
  add_command(*sub, arguments.get());
  sub->callback([=] { *command = [=] { return record(*arguments); }; });
}

void add_serve(CLI::App &app, Command *command) {
  auto arguments = std::make_shared<LayerArguments>();
  CLI::App *sub = app.add_subcommand(
      "serve", "Run an application with binaries from packs instead of compiling");
  sub->add_option("--pack", arguments->packs, "Pack, or folder of packs; repeatable")
      ->type_name("PATH")
      ->allow_extra_args(false);
  add_overlay_option(*sub, &arguments->overlay,
                     "Keep in DIR what had to be compiled on this device");
  add_command(*sub, arguments.get());
  sub->callback([=] { *command = [=] { return serve(*arguments); }; });
}

}  // namespace kiln::cli

// SPDX-License-Identifier: Apache-2.0
// Finds the layer, checks its settings, and runs an application under it.
#include "builder/cli/shared/layer_options.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/base/whole_file.hpp"
#include "builder/cli/shared/parse.hpp"
#include "kiln/packs/files.hpp"
#include "kiln/packs/pack_folder.hpp"
#include "runtime/cached/cached_files.hpp"
#include "runtime/overlay/shared_folder.hpp"
#include "runtime/provision/mesa_provision.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kLayer[] = "libkiln_layer.so";
constexpr char kCompiles[] = "; rusticl compiles at first launches";

// Makes the path absolute, because the command may change its folder.
std::string whole_path(const std::string &path) {
  std::error_code error;
  return path.empty() ? path : fs::absolute(path, error).string();
}

// Makes the folder of reports, and checks that files can be made there.
Status check_report_folder(const std::string &folder) {
  if (folder.empty()) return {};
  std::error_code error;
  fs::create_directories(folder, error);
  if (access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return {Code::failed, folder + ": " + std::strerror(errno)};
}

// Checks that lines can be appended to the report, since the layer could report a failure only to
// the application.
Status check_report(const std::string &path) {
  if (path.empty()) return {};
  const packs::Descriptor file(
      packs::open_at(packs::kWorkingFolder, path.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0666));
  return file ? Status() : Status(Code::failed, path + ": " + packs::open_fault(errno));
}

// Returns the folder in which the application's user has cached programs; empty if there is none.
std::string own_folder(const LayerArguments &arguments) {
  std::string own = arguments.overlay;
  std::error_code error;
  if (own.empty() && fs::is_directory(arguments.shared, error)) {
    if (!runtime::own_overlay(arguments.shared.c_str(), &own).ok()) return "";
  }
  runtime::Folder folder;
  const bool is_private =
      fs::is_directory(own, error) && cached::open_folder(own, "", &folder).ok();
  return is_private ? own : "";
}

}  // namespace

void add_application(CLI::App &sub, LayerArguments *arguments) {
  sub.add_option("command", arguments->command, "After \"--\": the application and its arguments");
}

void add_serving_options(CLI::App &sub, LayerArguments *arguments) {
  sub.add_option("--pack", arguments->packs, "Pack, or folder of packs; repeatable")
      ->type_name("PATH")
      ->allow_extra_args(false);
  add_overlay_option(sub, &arguments->overlay,
                     "Keep in DIR what had to be compiled on this device");
}

Result<std::string> find_layer() {
  std::error_code error;
  const fs::path folder = builder::executable_folder();
  for (const fs::path &place : {folder / kLayer, folder / KILN_LAYER_FROM_BIN / kLayer}) {
    if (fs::is_regular_file(place, error)) return fs::weakly_canonical(place, error).string();
  }
  return Status(Code::no_opencl, std::string("no ") + kLayer + " beside kiln");
}

Result<builder::LoaderChoice> choose_loader() {
  const auto layer = find_layer();
  if (!layer.ok()) return layer.status();
  return builder::choose_icd_loader(*layer);
}

void print_preload(const builder::LoaderChoice &loader) {
  if (loader.preload.empty()) return;
  complain(fmt::format("{}; {} is loaded before it (LD_PRELOAD)",
                       builder::refusal_of(*loader.found), loader.preload));
}

Status make_spool(const std::string &folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return {Code::failed, folder + ": " + error.message()};
  if (access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return {Code::failed, folder + ": " + std::strerror(errno)};
}

std::string report_lines(const std::string &report, std::uintmax_t from) {
  std::ifstream file = builder::open_file(report);
  file.seekg(static_cast<std::streamoff>(from));
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<builder::Variables> variables_of(const LayerArguments &arguments,
                                        const builder::LoaderChoice &loader) {
  if (Status s = check_report(arguments.report); !s.ok()) return s;
  if (Status s = check_report_folder(arguments.report_folder); !s.ok()) return s;
  auto layer = find_layer();
  if (!layer.ok()) return layer.status();
  builder::LayerEnvironment environment = arguments;
  environment.layer = *layer;
  environment.preload = loader.preload;
  for (std::string &pack : environment.packs) pack = whole_path(pack);
  for (std::string *path : {&environment.overlay, &environment.shared, &environment.report,
                            &environment.report_folder, &environment.spool}) {
    *path = whole_path(*path);
  }
  return builder::layer_variables(environment);
}

void provision_served(const LayerArguments &arguments, bool only_print,
                      builder::Variables *variables) {
  runtime::MesaEntries entries;
  std::vector<std::string> paths = arguments.packs;
  if (const std::string own = own_folder(arguments); !own.empty()) paths.push_back(own);
  for (const std::string &path : paths) {
    std::vector<std::string> files;
    (void)packs::packs_at(path, &files);
    for (const std::string &file : files) {
      std::shared_ptr<const packs::Pack> pack;
      if (!packs::Pack::open_file(file.c_str(), &pack).ok()) continue;  // the layer says why
      if (Status s = entries.add(pack); !s.ok()) complain(file + ": " + s.message + kCompiles);
    }
  }
  if (entries.empty()) return;
  const std::string folder = builder::mesa_folder();
  const auto added = builder::mesa_variables(only_print ? "" : folder);
  if (!added.ok()) return complain(added.status().message + kCompiles);
  if (only_print) {
    complain(
        "run 'kiln provision PACK' for each pack, too: rusticl's final code is in Mesa's cache");
  } else {
    runtime::ProvisionResult result;
    const Status status = folder.empty() ? Status(Code::failed, "HOME is not set")
                                         : entries.provision(folder.c_str(), &result);
    if (!status.ok()) return complain(status.message + kCompiles);
  }
  variables->insert(variables->end(), added->begin(), added->end());
}

Result<builder::ProcessExit> run_under_layer(const std::vector<std::string> &command,
                                             const builder::Variables &variables, const char *mode,
                                             int output, const builder::Meanwhile *meanwhile) {
  const auto prepare = [&] {
    // This process has one thread, so the child may.
    for (const auto &[name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    setenv("KILN_LAYER", mode, 1);
    builder::restore_signals();
    if (output != STDOUT_FILENO) dup2(output, STDOUT_FILENO);
  };
  const builder::ProcessExit exit = builder::run_foreground(command, prepare, meanwhile);
  if (exit.end != builder::ProcessEnd::not_started) return exit;
  return Status(Code::no_opencl, command[0] + ": " + std::strerror(exit.code));
}

}  // namespace kiln::cli

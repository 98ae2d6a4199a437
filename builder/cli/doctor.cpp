// SPDX-License-Identifier: Apache-2.0
// kiln doctor: looks at everything between an application and Kiln's binaries, and names what is
// wrong.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <unistd.h>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/base/this_process.hpp"
#include "builder/cli/shared/layer_options.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/machine/platforms.hpp"
#include "builder/process/child_result.hpp"
#include "builder/process/run_tool.hpp"
#include "builder/process/temporary_folder.hpp"
#include "builder/under_layer/enabled_layer.hpp"
#include "builder/under_layer/overlay_folder.hpp"
#include "builder/under_layer/past_layer.hpp"
#include "builder/under_layer/report_sum.hpp"
#include "kiln/packs/pack_folder.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The variables that Kiln reads; docs/use/layer.md and the manual page describe them.
const std::vector<std::string> kVariables = {
    "KILN_CLANG",      "KILN_ICD_LOADER", "KILN_LAYER",     "KILN_LIBCLC",       "KILN_LIBRARY",
    "KILN_NEO_ROOT",   "KILN_OVERLAY",    "KILN_PACK",      "KILN_PACK_PATH",    "KILN_PTXAS",
    "KILN_REPORT",     "KILN_REPORT_DIR", "KILN_SPIRV_VAL", "KILN_SPOOL",        "KILN_STORE",
    "KILN_LLVM_SPIRV", "KILN_BACKGROUND", "KILN_MESA_ROOT", "KILN_MESA_PROGRAM", "KILN_TUNED",
    "KILN_REQUIRE",    "KILN_RUNG",       "KILN_SHARED",    "KILN_KEYS"};

// What was found: facts for --json, lines of text, and problems.
class Findings {
 public:
  void add(const char *name, json value) { facts_[name] = std::move(value); }
  void say(const std::string &line) { text_ += builder::printable_line(line) + "\n"; }
  void say_below(const std::string &lines) {  // printable ones
    std::istringstream all(lines);
    for (std::string line; std::getline(all, line);)
      text_ += line.empty() ? "\n" : "  " + line + "\n";
  }
  void blame(const std::string &problem) { problems_.push_back(problem); }

  int print_all(bool as_json) {
    if (as_json) {
      facts_["schema"] = 1;
      facts_["problems"] = problems_;
      print(facts_);
    } else {
      for (const std::string &problem : problems_) {
        std::istringstream lines("problem: " + problem);
        const char *indent = "";
        for (std::string line; std::getline(lines, line); indent = "  ") say(indent + line);
      }
      print(text_ + (problems_.empty() ? "no problem was found\n" : ""));
    }
    return problems_.empty() ? kDone : kSomeFailed;
  }

 private:
  json facts_ = json::object();
  std::string text_;
  std::vector<std::string> problems_;
};

void look_at_variables(Findings *findings) {
  json unknown = json::array();
  for (char **entry = environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, std::strcspn(*entry, "="));
    if (!name.starts_with("KILN_")) continue;
    if (std::find(kVariables.begin(), kVariables.end(), name) != kVariables.end()) continue;
    const auto near = builder::suggest(name, kVariables);
    unknown.push_back(name);
    findings->blame(fmt::format("Kiln does not read the variable {}{}", name,
                                near ? "; did you mean " + *near + "?" : ""));
  }
  findings->add("unknown_variables", unknown);
}

void look_at_drivers(Findings *findings) {
  json drivers = json::array(), platforms = json::array();
  for (const builder::Driver &driver : builder::installed_drivers()) {
    drivers.push_back(
        {{"file", driver.file}, {"library", driver.library}, {"error", driver.status.message}});
    findings->say(
        fmt::format("driver: {} ({}){}", driver.library, driver.file,
                    driver.status.ok() ? "" : ": cannot be loaded: " + driver.status.message));
  }
  findings->add("drivers", drivers);
  const auto found = builder::list_platforms();
  if (found.ok()) {
    for (const builder::Platform &platform : *found) {
      platforms.push_back({{"name", platform.name},
                           {"version", platform.version},
                           {"devices", platform.devices},
                           {"error", platform.why_none}});
      const bool needs_variable = platform.name == "rusticl" && variable("RUSTICL_ENABLE").empty();
      findings->say(
          fmt::format("platform: {} ({}): {}{}{}", platform.name, platform.version,
                      count(platform.devices, "device"),
                      platform.why_none.empty() ? "" : ": " + platform.why_none,
                      needs_variable ? "; RUSTICL_ENABLE names the drivers that it may use" : ""));
    }
  }
  findings->add("platforms", platforms);
}

std::vector<builder::DeviceInfo> look_at_devices(Findings *findings) {
  json listed = json::array();
  auto devices = builder::list_devices();
  if (!devices.ok()) {
    findings->blame(devices.status().message);
    findings->add("devices", listed);
    return {};
  }
  for (const builder::DeviceInfo &device : *devices) {
    listed.push_back(device.label());
    findings->say(fmt::format("device {}: {}", device.index, device.label()));
  }
  findings->add("devices", listed);
  return std::move(*devices);
}

void look_at_loader(const builder::LoaderChoice &loader, Findings *findings) {
  json facts = nullptr;
  if (!loader.found) {
    findings->blame("there is no ICD loader, libOpenCL.so.1: install ocl-icd-libopencl1");
  } else {
    facts = {{"path", loader.found->path},
             {"takes_layers", loader.found->takes_layer},
             {"preload", loader.preload}};
    findings->say("ICD loader: " + (loader.found->takes_layer
                                        ? loader.found->path + " takes layers"
                                        : builder::refusal_of(*loader.found)));
    if (!loader.preload.empty()) {
      findings->say(fmt::format("  kiln record and kiln serve load {} before it", loader.preload));
    }
    if (!loader.why_not.empty()) findings->blame(loader.why_not);
  }
  findings->add("icd_loader", facts);
}

// Returns whether a process reached the layer.
bool has_started(const std::string &report) {
  return report_lines(report).find("\"started\"") != std::string::npos;
}

// Splits a list of paths, as in variables of the environment.
std::vector<std::string> listed_paths(const std::string &list) {
  std::vector<std::string> paths;
  std::istringstream words(list);
  for (std::string path; std::getline(words, path, ':');) {
    if (!path.empty()) paths.push_back(path);
  }
  return paths;
}

// Has another process of Kiln's list the devices under the layer, and returns whether it reached
// the layer. Without devices, loaders may have no reason to call it.
bool look_at_layer(const builder::LoaderChoice &loader, const Result<std::string> &layer,
                   bool has_devices, const std::string &report, Findings *findings) {
  json facts = {{"path", layer.ok() ? *layer : ""}, {"reached", false}};
  bool reached = false;
  if (!layer.ok()) {
    findings->blame(layer.status().message);
  } else if (loader.why_not.empty()) {
    builder::LayerEnvironment environment;
    environment.layer = *layer;
    environment.preload = loader.preload;
    environment.report = report;
    builder::ProcessRequest request;
    request.program = builder::executable_folder() / "kiln";
    request.arguments = {"devices", "--json"};
    const auto variables = builder::layer_variables(environment);
    if (variables.ok()) {
      request.environment.assign(variables->begin(), variables->end());
    }
    (void)builder::run_tool(request);
    reached = has_started(report);
    facts["reached"] = reached;
    findings->say(fmt::format("layer: {} {}", *layer, reached ? "is reached" : "is not reached"));
    if (!reached && has_devices) findings->blame("the ICD loader does not call the layer");
  }
  findings->add("layer", facts);
  return reached;
}

// Tells for whom the layer is enabled, and whether this session began before that.
void look_at_enabled(Findings *findings) {
  json files = json::array();
  const std::vector<std::string> here = listed_paths(variable("OPENCL_LAYERS"));
  for (const builder::EnablingFile &file : builder::enabled_layers()) {
    const bool is_user = file.whom == builder::EnabledFor::user;
    const bool is_session = std::find(here.begin(), here.end(), file.layer) != here.end();
    const bool is_list = file.path.ends_with(".lay");
    files.push_back({{"path", file.path},
                     {"layer", file.layer},
                     {"user", is_user},
                     {"session", is_list ? json(nullptr) : json(is_session)}});
    findings->say(fmt::format("  enabled for {} by {}{}",
                              is_user ? "this user" : "every user of this machine", file.path,
                              is_list || is_session ? "" : "; this session began before that"));
    std::error_code error;
    if (!fs::is_regular_file(file.layer, error)) {
      findings->blame(fmt::format("{} names {}, which is not there: run 'kiln serve --disable{}'",
                                  file.path, file.layer, is_user ? " --user" : ""));
    }
  }
  if (files.empty()) findings->say("  not enabled: only what kiln serve starts has it");
  findings->add("enabled", files);
}

// Counts the programs of a pack that have a binary for the device.
std::size_t served_by(const packs::Contents &contents, const builder::DeviceInfo &device) {
  std::size_t programs = 0;
  for (const packs::Target &target : contents.targets) {
    if (target.key != device.description.key.text()) continue;
    for (const packs::Program &program : contents.programs) {
      programs += std::any_of(
          program.variants.begin(), program.variants.end(), [&](const packs::Variant &variant) {
            return std::any_of(target.binaries.begin(), target.binaries.end(),
                               [&](const auto &binary) { return binary.variant == variant.hash; });
          });
    }
  }
  return programs;
}

void look_at_pack(const std::string &path, const std::vector<builder::DeviceInfo> &devices,
                  json *packs, Findings *findings) {
  const auto open = read_pack(path);
  if (!open.ok()) {
    findings->blame(open.status().message);
    packs->push_back({{"path", path}, {"error", open.status().message}});
    return;
  }
  json served = json::array();
  const std::size_t all = open->contents.programs.size();
  findings->say(fmt::format("pack: {}: {}", path, count(all, "program")));
  std::size_t most = 0;
  for (const builder::DeviceInfo &device : devices) {
    const std::size_t programs = served_by(open->contents, device);
    served.push_back(programs);
    most = std::max(most, programs);
    findings->say(fmt::format("  {} of them have a binary for device {}", programs, device.index));
  }
  if (most == 0 && all != 0 && !devices.empty()) {
    findings->blame(path + " has no binary for a device of this machine; 'kiln explain' says why");
  }
  packs->push_back({{"path", path}, {"programs", all}, {"served", served}, {"error", ""}});
}

void look_at_packs(const std::vector<std::string> &paths,
                   const std::vector<builder::DeviceInfo> &devices, Findings *findings) {
  json packs = json::array();
  for (const std::string &path : paths) {
    std::vector<std::string> files;
    if (Status s = kiln::packs::packs_at(path, &files); !s.ok()) findings->blame(s.message);
    if (files.empty()) findings->blame(path + " has no packs (*.kiln)");
    for (const std::string &file : files) look_at_pack(file, devices, &packs, findings);
  }
  findings->add("packs", packs);
}

struct FolderSize {
  std::size_t files = 0;
  std::uintmax_t bytes = 0;
};

FolderSize size_of(const fs::path &folder) {
  FolderSize size;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (!at->is_regular_file(error)) continue;
    ++size.files;
    size.bytes += at->file_size(error);
  }
  return size;
}

void look_at_overlay(const std::string &path, Findings *findings) {
  std::error_code error;
  if (path.empty()) {
    findings->add("overlay", nullptr);
    return;
  }
  json facts = {{"path", path},  {"files", 0}, {"bytes", 0},  {"quarantined", 0},
                {"programs", 0}, {"noted", 0}, {"varying", 0}};
  if (!fs::is_directory(path, error)) {
    findings->say("overlay: " + path + " does not exist yet");
  } else {
    const FolderSize size = size_of(path);
    const auto folder = builder::read_overlay(path);
    std::size_t quarantined = 0;
    cached::Counts programs;
    if (folder.ok()) {
      for (const auto &driver : folder->drivers) quarantined += driver.deaths;
      programs = folder->programs;
    } else {
      findings->blame(folder.status().message);
    }
    facts = {{"path", path},
             {"files", size.files},
             {"bytes", size.bytes},
             {"quarantined", quarantined},
             {"programs", programs.cached},
             {"noted", programs.all_noted()},
             {"varying", programs.varying}};
    findings->say(
        fmt::format("overlay: {}: {}, {} bytes, {} quarantined; {}, {} noted for "
                    "'kiln overlay build'",
                    path, count(size.files, "file"), size.bytes, quarantined,
                    count(programs.cached, "program"), programs.all_noted()));
    if (programs.varying != 0) findings->blame(builder::varying_text(programs));
    if (access(path.c_str(), W_OK | X_OK) != 0) {
      findings->blame(fmt::format("{}: {}; nothing new is kept", path, std::strerror(errno)));
    }
  }
  findings->add("overlay", facts);
}

// Tells how the last start went, by the application's report; an empty path: there is none.
void look_at_report(const std::string &path, Findings *findings) {
  json start = nullptr;
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) {
    if (!path.empty()) findings->say("report: " + path + " does not exist yet");
  } else {
    builder::ReportSums sums;
    if (Status s = builder::add_last_start(path, &sums); !s.ok()) {
      findings->blame(s.message);
    } else if (sums.lines == 0) {
      findings->say("report: " + path + ": no process in it built a program");
    } else {
      start = builder::report_sums_json(sums);
      findings->say("report: " + path + ": the last start that built programs");
      findings->say_below(builder::report_sums_text(sums));
    }
  }
  findings->add("last_start", start);
}

// Blames what keeps Kiln from serving anything to an application that reached the layer, and that
// ended with `end`.
void look_at_served(const builder::ReportSums &sums, std::size_t served,
                    const LayerArguments &arguments, const std::string &end, Findings *findings) {
  const std::size_t built = builder::builds_of(sums), own = sums.own_binaries.count;
  if (served != 0) return;
  if (own != 0) {
    findings->blame(
        fmt::format("the application loads {} from binaries of its own, which the layer does not "
                    "serve: empty its cache, or see docs/use/own_cache.md",
                    count(own, "program")));
  } else if (built != 0 && arguments.packs.empty() && arguments.overlay.empty()) {
    findings->blame(
        "no pack and no overlay is named: give doctor the --pack or the --overlay that "
        "the application is served from");
  } else if (built != 0 && !arguments.packs.empty()) {
    findings->blame(
        fmt::format("none of the {} that the application built came from a pack; the report of its "
                    "last start says why",
                    count(built, "program")));
  } else if (built == 0) {
    findings->blame("the application built no program, and ended with " + end);
  }
}

// Runs the application as kiln serve does, and tells whether it reached the layer, which
// `others_reach`, and whether it was served.
void look_at_application(const LayerArguments &arguments, const builder::LoaderChoice &loader,
                         bool others_reach, Findings *findings) {
  const auto variables = variables_of(arguments, loader);
  if (!variables.ok()) return findings->blame(variables.status().message);
  print_preload(loader);
  std::error_code error;
  const std::uintmax_t before = fs::file_size(arguments.report, error);  // it exists
  builder::PastLayer past(*find_layer(), builder::driver_libraries());
  const builder::Meanwhile meanwhile = [&past] {
    past.look();
    return std::chrono::milliseconds(100);
  };
  const auto exit =
      run_under_layer(arguments.command, *variables, "serve", STDERR_FILENO, &meanwhile);
  if (!exit.ok()) return findings->blame(exit.status().message);
  const bool has_exited = exit->end == builder::ProcessEnd::exited;
  const std::string end = fmt::format("{} {}", has_exited ? "exit code" : "signal", exit->code);
  builder::ReportSums sums;
  std::istringstream lines(report_lines(arguments.report, before));
  (void)builder::add_report_lines(lines, arguments.report, &sums);
  std::size_t served = 0;
  for (const auto &[outcome, row] : sums.rows) served += outcome.first == "served" ? row.count : 0;
  const bool reached = !sums.processes.empty();
  findings->add("application", {{"reached", reached},
                                {"exit", has_exited ? exit->code : -1},
                                {"builds", builder::builds_of(sums)},
                                {"served", served},
                                {"own_binaries", sums.own_binaries.count}});
  if (reached) {
    look_at_served(sums, served, arguments, end, findings);
  } else if (!others_reach) {
    findings->blame("the application did not reach the layer");
  } else if (const std::string found = past.found(); !found.empty()) {
    findings->blame(found + " without the layer: it brings a driver or an ICD loader of its own");
  } else {
    findings->blame("the application made no OpenCL call that Kiln saw, and ended with " + end);
  }
}

int run(LayerArguments arguments, bool as_json) {
  Findings findings;
  const auto folder = builder::TemporaryFolder::make();
  if (!folder.ok()) return fail(folder.status());
  if (arguments.packs.empty()) arguments.packs = listed_paths(variable("KILN_PACK"));
  if (arguments.overlay.empty()) arguments.overlay = variable("KILN_OVERLAY");
  const auto layer = find_layer();
  const builder::LoaderChoice loader = builder::choose_icd_loader(layer.ok() ? *layer : "");
  look_at_loader(loader, &findings);
  look_at_drivers(&findings);
  const auto devices = look_at_devices(&findings);
  const bool is_reached =
      look_at_layer(loader, layer, !devices.empty(), folder->path() + "/reached", &findings);
  look_at_enabled(&findings);
  look_at_packs(arguments.packs, devices, &findings);
  look_at_overlay(arguments.overlay, &findings);
  look_at_variables(&findings);
  if (!arguments.command.empty()) {
    if (arguments.report.empty()) arguments.report = folder->path() + "/report";
    look_at_application(arguments, loader, is_reached, &findings);
  }
  look_at_report(arguments.report.empty() ? variable("KILN_REPORT") : arguments.report, &findings);
  return findings.print_all(as_json);
}

}  // namespace

void add_doctor(CLI::App &app, Command *command) {
  struct DoctorArguments : LayerArguments {
    bool json = false;
  };
  auto options = std::make_shared<DoctorArguments>();
  CLI::App *sub = app.add_subcommand(
      "doctor", "Check loader, layer, driver and packs; say why an application gets no binaries");
  add_serving_options(*sub, options.get());
  add_application(*sub, options.get());
  add_report_option(*sub, &options->report,
                    "Report whose last start is told; an application appends to it; default: "
                    "KILN_REPORT");
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options, options->json); }; });
}

}  // namespace kiln::cli

// SPDX-License-Identifier: Apache-2.0
// kiln overlay: show, export and clear the folder in which a device keeps what it compiled, and
// build what the layer noted there.
#include <chrono>
#include <filesystem>
#include <iterator>

#include <sys/resource.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "builder/cli/shared/common_options.hpp"
#include "builder/cli/shared/compiling.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/process/temporary_folder.hpp"
#include "builder/sign/minisign.hpp"
#include "builder/under_layer/overlay_build.hpp"
#include "builder/under_layer/overlay_folder.hpp"
#include "kiln/overlay.h"
#include "kiln/packs/files.hpp"
#include "kiln/packs/pack_folder.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/cached/cached_files.hpp"
#include "runtime/overlay/shared_folder.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

struct OverlayArguments {
  std::string folder;
  std::string output;
  bool json = false;
  builder::BuildOptions build;
  bool is_background = false;
  bool is_shared = false;
  std::string key;  // file of the secret key that signs what other users may take; empty: none
};

int show(const OverlayArguments &options) {
  const auto folder = builder::read_overlay(options.folder);
  if (!folder.ok()) return fail(folder.status());
  if (options.json) {
    print(builder::to_json(*folder));
    return kDone;
  }
  std::string text;
  for (const auto &binary : folder->binaries) {
    if (!binary.status.ok()) {
      text += fmt::format("{}: damaged: {}\n", binary.file, binary.status.message);
      continue;
    }
    text += builder::printable_line(fmt::format(
                "{}/{} for {}: {} bytes, {}{}", binary.program, binary.variant, binary.device,
                binary.binary().blob.raw_size(), builder::finish_text(binary.binary().finish),
                binary.quarantined ? ", quarantined" : "")) +
            "\n";
  }
  for (const auto &driver : folder->drivers) {
    text += fmt::format("driver of {}: {} proven, {} recompiled, {} quarantined\n",
                        driver.device.empty() ? "an unknown device" : driver.device, driver.proven,
                        driver.recompiled, driver.deaths);
  }
  if (folder->programs.cached != 0 || folder->programs.all_noted() != 0) {
    text += fmt::format("{} of applications without a pack; {} noted for 'kiln overlay build'\n",
                        count(folder->programs.cached, "program"), folder->programs.all_noted());
  }
  if (folder->programs.varying != 0) text += builder::varying_text(folder->programs) + "\n";
  print(text.empty() ? options.folder + ": empty\n" : text);
  return kDone;
}

int pack_folder(const OverlayArguments &options) {
  if (Status s = check_output(options.output, {}); !s.ok()) return fail(s);
  const auto folder = builder::read_overlay(options.folder);
  if (!folder.ok()) return fail(folder.status());
  std::size_t left_out = 0;
  for (const auto &binary : folder->binaries) {
    if (binary.status.ok() && !binary.quarantined) continue;
    complain(fmt::format("{} is left out: {}", binary.file,
                         binary.quarantined ? "the driver died of it" : binary.status.message));
    ++left_out;
  }
  const packs::Contents contents = builder::overlay_contents(*folder);
  if (Status s = write_output(contents, options.output); !s.ok()) return fail(s);
  const std::size_t written = folder->binaries.size() + folder->cached.size() - left_out;
  if (options.json) {
    print(nlohmann::json{{"schema", 1},
                         {"output", options.output},
                         {"targets", contents.targets.size()},
                         {"binaries", written},
                         {"left_out", left_out}});
  } else {
    print(fmt::format("{}: {} of {}\n", options.output,
                      written == 1 ? "1 binary" : fmt::format("{} binaries", written),
                      count(contents.targets.size(), "target")));
  }
  return left_out == 0 ? kDone : kSomeFailed;
}

// Runs at the lowest priority: no user waits for this process.
void step_back() {
  constexpr int kLowest = 19;
  (void)setpriority(PRIO_PROCESS, 0, kLowest);
}

nlohmann::json to_json(const builder::OverlayBuild &result) {
  nlohmann::json failures = nlohmann::json::array();
  for (const builder::JobFailure &failure : result.failures) {
    failures.push_back({{"program", failure.job}, {"error", failure.text}});
  }
  return {{"schema", 1},
          {"built", result.built},
          {"failures", failures},
          {"other_drivers", result.other_drivers},
          {"not_here", result.not_here},
          {"dropped", result.dropped}};
}

void print_result(const OverlayArguments &options, const builder::OverlayBuild &result) {
  for (const builder::JobFailure &failure : result.failures) {
    complain(builder::printable_line(failure.job) + ": " + failure.text);
  }
  if (options.json) return print(to_json(result));
  std::string text = fmt::format("{}: {} built, {} failed", options.folder,
                                 count(result.built, "program"), result.failures.size());
  if (result.other_drivers != 0) {
    text += builder::printable_line(fmt::format("; {} noted for drivers that are not here: {}",
                                                result.other_drivers,
                                                fmt::join(result.not_here, ", ")));
  }
  if (result.dropped != 0) text += fmt::format("; {} of earlier drivers dropped", result.dropped);
  print(text + "\n");
}

// Builds until nothing is left that was noted for a driver that is here.
Result<builder::OverlayBuild> build_all(const OverlayArguments &options,
                                        const std::vector<builder::DeviceInfo> &devices) {
  BuildProgress progress;
  builder::OverlayBuild all;
  for (;;) {
    auto some = builder::build_overlay(options.folder, devices, options.build, options.is_shared,
                                       options.is_background ? nullptr : &progress);
    end_progress();
    if (!some.ok()) return some;
    all.built += some->built;
    all.dropped += some->dropped;
    all.other_drivers = some->other_drivers;
    all.not_here = std::move(some->not_here);
    std::move(some->failures.begin(), some->failures.end(), std::back_inserter(all.failures));
    if (some->built + some->failures.size() == 0) return all;
  }
}

// Offers what the overlay `own` has to other users of the shared folder, as a signed pack.
Status sign_for_others(const std::string &shared, const std::string &own, const std::string &key) {
  const auto folder = builder::read_overlay(own);
  if (!folder.ok()) return folder.status();
  const packs::Contents contents = builder::overlay_contents(*folder);
  if (contents.targets.empty()) return {};
  const auto scratch = builder::TemporaryFolder::make();
  if (!scratch.ok()) return scratch.status();
  const std::string path = scratch->path() + "/signed.kiln";
  Status status = packs::write_raw_pack(contents, path);
  std::shared_ptr<const packs::Pack> pack;
  if (status.ok()) status = packs::Pack::open_file(path.c_str(), &pack);
  if (!status.ok()) return status;
  const std::string text = packs::statement(pack->superblock(), packs::root_name(*pack), 1);
  const auto texts = builder::sign_by_minisign(key, {text}, "kiln overlay");
  if (!texts.ok()) return texts.status();
  packs::Signature signature;
  status = packs::read_detached(*pack, texts->front(), &signature);
  if (status.ok()) status = packs::write_signed(*pack, {signature}, path);
  if (!status.ok()) return status;
  const packs::Descriptor file(packs::open_at(packs::kWorkingFolder, path.c_str(), O_RDONLY));
  std::error_code error;
  packs::Bytes bytes(fs::file_size(path, error));
  std::size_t size = bytes.size();
  if (const int failed = packs::read_all(file.get(), 0, bytes.data(), &size); failed != 0) {
    return runtime::file_failure(path, failed);
  }
  umask(S_IWGRP | S_IWOTH);  // others are to read the file
  return runtime::write_for_others(shared.c_str(), {bytes.data(), size});
}

int build(const OverlayArguments &given) {
  OverlayArguments options = given;
  const std::string &shared = given.folder;
  if (options.is_shared) {
    const Status status = runtime::own_overlay(shared.c_str(), &options.folder);
    if (!status.ok()) return fail(status);
  }
  std::error_code error;
  if (!fs::exists(options.folder, error)) {  // the layer makes it when it notes something
    complain(options.folder + ": no such folder, so nothing is noted there");
    print_result(options, {});
    return kDone;
  }
  if (!fs::is_directory(options.folder, error)) {
    return fail({Code::not_found, options.folder + ": no folder"});
  }
  if (options.is_background) step_back();
  supervise_command("interrupted; the same command goes on from there");
  // Another build of the overlay takes what was noted before it ends.
  constexpr std::chrono::seconds kPatience{2};
  const std::string noted = builder::noted_folder(options.folder) + "/lock";
  const auto waiting = [](const std::string &folder) {
    complain("waiting for another command that builds what is in " + folder);
  };
  const packs::FolderLock lock = options.is_background ? packs::FolderLock(noted, kPatience)
                                                       : packs::FolderLock(noted, waiting);
  if (lock.is_refused()) return kDone;
  const auto counts = cached::count_programs(options.folder);
  if (!counts.ok()) return fail(counts.status());
  std::vector<builder::DeviceInfo> devices;
  if (counts->all_noted() != 0) {
    if (Status s = leave_out_driver_variables(); !s.ok()) return fail(s);
    auto found = find_devices("");
    if (!found.ok()) return fail(found.status());
    devices = *std::move(found);
  }
  const auto built = build_all(options, devices);
  if (!built.ok()) return fail(built.status());
  const builder::OverlayBuild &result = *built;
  if (!options.key.empty()) {
    const Status status = sign_for_others(shared, options.folder, options.key);
    if (!status.ok()) return fail(status);
  }
  print_result(options, result);
  return result.failures.empty() ? kDone : kSomeFailed;
}

int clear(const OverlayArguments &options) {
  std::error_code ignored;
  if (!fs::exists(options.folder, ignored)) {
    return fail({Code::not_found, options.folder + ": No such file or directory"});
  }
  kiln_error error{};
  if (kiln_overlay_clear(options.folder.c_str(), &error) != KILN_OK) {
    return fail({Code::failed, error.message});
  }
  const Status status = builder::clear_noted(options.folder);
  return status.ok() ? kDone : fail(status);
}

}  // namespace

void add_overlay(CLI::App &app, Command *command) {
  auto options = std::make_shared<OverlayArguments>();
  options->build.limits = {std::chrono::minutes(10), kJobMemory};
  CLI::App *sub =
      app.add_subcommand("overlay", "Show, build, pack or clear what was compiled on this device");
  sub->require_subcommand(1);
  const auto add = [&](const char *name, const char *text, int (*run)(const OverlayArguments &)) {
    CLI::App *action = sub->add_subcommand(name, text);
    action->add_option("folder", options->folder, "The overlay's folder")->required();
    action->callback([=] { *command = [=] { return run(*options); }; });
    return action;
  };
  CLI::App *shown =
      add("show", "List the overlay's binaries, and what is known about each driver", show);
  add_json_flag(*shown, &options->json);
  CLI::App *packed =
      add("pack", "Write the overlay's binaries as a pack, for 'kiln pack merge'", pack_folder);
  add_output_option(*packed, &options->output, "Pack to write")->required();
  add_json_flag(*packed, &options->json);
  CLI::App *built =
      add("build",
          "Build the programs that the layer noted, for later starts of their applications", build);
  CLI::Option *shared = built->add_flag(
      "--shared", options->is_shared,
      "The folder is one that users share: build in this user's overlay, folder/<uid>");
  add_secret_key_option(*built, &options->key);
  built->get_option("--secret-key")
      ->needs(shared)
      ->description(
          "Also sign all of this overlay for other users, as folder/<uid>.kiln, with "
          "this secret key of minisign, which asks for its password");
  add_jobs_option(*built, &options->build.jobs);
  add_timeout_option(*built, &options->build.limits.timeout,
                     "Seconds that each step of a job may take");
  built->add_flag("--background", options->is_background,
                  "Give way to all other processes, and do nothing if another command builds: "
                  "that one takes what was noted");
  add_json_flag(*built, &options->json);
  add("clear", "Remove everything in the overlay, quarantines too", clear);
}

}  // namespace kiln::cli

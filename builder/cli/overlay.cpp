// SPDX-License-Identifier: Apache-2.0
// kiln overlay: show, export and clear the folder in which a device keeps what it compiled.
#include <filesystem>

#include <fmt/format.h>

#include "builder/cli/common_options.hpp"
#include "builder/inspect/overlay_folder.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/printable.hpp"
#include "kiln/overlay.h"
#include "kiln/packs/pack_folder.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

struct OverlayArguments {
  std::string folder;
  std::string output;
  bool json = false;
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
  const std::size_t written = folder->binaries.size() - left_out;
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

// Removes the programs that the layer cached, which the runtime does not know
// (runtime/spool/kept.hpp).
Status clear_kept(const std::string &folder) {
  const fs::path programs = fs::path(folder) / "programs";
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(programs, error))) return {};
  std::vector<fs::path> files;
  for (const fs::directory_entry &entry : fs::directory_iterator(programs, error)) {
    const std::string kind = entry.path().extension().string();
    if (kind == ".kiln" || kind == ".part") files.push_back(entry.path());
  }
  if (error) return {Code::io_error, programs.string() + ": " + error.message()};
  for (const fs::path &file : files) {
    if (!fs::remove(file, error) && error) {
      return {Code::io_error, file.string() + ": " + error.message()};
    }
  }
  fs::remove(programs, error);  // stays if it has other files
  return {};
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
  const Status status = clear_kept(options.folder);
  return status.ok() ? kDone : fail(status);
}

}  // namespace

void add_overlay(CLI::App &app, Command *command) {
  auto options = std::make_shared<OverlayArguments>();
  CLI::App *sub =
      app.add_subcommand("overlay", "Show, pack or clear what was compiled on this device");
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
  add("clear", "Remove everything in the overlay, quarantines too", clear);
}

}  // namespace kiln::cli

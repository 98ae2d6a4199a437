// SPDX-License-Identifier: Apache-2.0
// kiln fleet watch: brings a pack up to date before an application starts
// (builder/fleet/watch/watch.hpp).
#include "builder/fleet/watch/watch.hpp"

#include <fmt/format.h>

#include "builder/cli/shared/common_options.hpp"
#include "builder/cli/shared/supervised.hpp"
#include "builder/inspect/printable.hpp"

namespace kiln::cli {
namespace {

using nlohmann::json;

struct WatchArguments {
  builder::WatchOptions watch;
  // At the lowest priority a busy machine is slow.
  std::chrono::milliseconds timeout = std::chrono::minutes(10);
  std::size_t jobs = 0;
  builder::ReferenceOptions references{};
  bool json = false;
};

std::string report_text(const json &report) {
  const std::string pack = report["pack"], changed = report["changed"];
  const std::size_t missing = report["missing"];
  if (changed.empty()) {
    return fmt::format("{}: nothing has changed{}\n", pack,
                       missing == 0 ? "" : fmt::format("; {} missing", count(missing, "binary")));
  }
  std::string text =
      fmt::format("{}: {}; {}\n", pack, changed, report["written"] ? "replaced" : "left as it is");
  const auto list = [&text](const char *what, const json &jobs) {
    for (const json &job : jobs) {
      text += fmt::format("  {} {}: {}\n", what,
                          builder::printable_line(job["variant"].get<std::string>()),
                          job["reason"].get<std::string>());
    }
  };
  for (const json &device : report["devices"]) {
    text += fmt::format("{}: {}\n", builder::printable_line(device["device"].get<std::string>()),
                        device["outcome"].get<std::string>());
    list("missing", device["missing"]);
    list("not final", device["not_final"]);
  }
  return text;
}

int run(const WatchArguments &options) {
  builder::WatchOptions watch = options.watch;
  watch.references = options.references.folder;
  watch.build = {"-j", std::to_string(options.jobs), "--timeout",
                 fmt::format("{}", static_cast<double>(options.timeout.count()) / 1000)};
  if (options.references.no_check) watch.build.emplace_back("--no-check");
  builder::WatchEnd end;
  if (auto settled = builder::settled_report(watch)) {
    end.report = *std::move(settled);
  } else {
    supervise_command("interrupted; the same command goes on from there");
    if (Status s = leave_out_driver_variables(); !s.ok()) return fail(s);
    auto done = builder::watch(watch, complain);
    if (!done.ok()) {  // what a command of kiln's said itself has no message
      return done.status().message.empty() ? exit_code_of(done.status()) : fail(done.status());
    }
    end = *std::move(done);
  }
  options.json ? print(end.report) : print(report_text(end.report));
  return end.report["missing"] == 0 && !end.has_failed ? kDone : kSomeFailed;
}

}  // namespace

void add_watch(CLI::App &app, Command *command) {
  auto options = std::make_shared<WatchArguments>();
  builder::WatchOptions &watch = options->watch;
  CLI::App *sub = app.add_subcommand(
      "watch", "After a driver's update, bring a pack up to date: fetch or build what is missing");
  sub->add_option("--state", watch.state, "Folder of what 'kiln fleet watch' keeps for this pack")
      ->type_name("DIR")
      ->required();
  sub->add_option("--pack", watch.pack,
                  "Pack that the application loads; replaced by rename, made if it is missing")
      ->type_name("PACK")
      ->required();
  sub->add_option("--base", watch.base, "Pack with the programs; default: the pack's own")
      ->type_name("PACK");
  auto *from = sub->add_option("--from", watch.from,
                               "Where to fetch targets: what 'kiln fleet publish' made, as a "
                               "folder or URL, or a folder of packs")
                   ->type_name("DIR|URL");
  CLI::Option *keys = add_trusted_keys_option(*sub, &watch.keys)->needs(from);
  add_least_revision_option(*sub, &watch.smallest_revision);
  sub->get_option("--min-revision")->needs(from);
  auto *no_build = sub->add_flag("--no-build", watch.no_build, "Compile nothing here");
  sub->add_flag("--signed", watch.is_signed,
                "Keep the signature: the fetched pack replaces the pack as it is, and nothing is "
                "built or merged")
      ->needs(keys)
      ->excludes(no_build);
  sub->add_option("--folder", watch.folder,
                  "Folder of Mesa's cache, or the word none; default: Mesa's own for this user")
      ->type_name("DIR");
  sub->add_flag(
      "--ask", watch.ask,
      "Ask the devices, and --from for newer known-bad notes, although nothing seems to have "
      "changed");
  sub->add_flag("--full-speed", watch.full_speed, "Build at the usual priority, not at the lowest");
  add_device_option(*sub, &watch.selector);
  add_reference_options(*sub, &options->references);
  add_timeout_option(*sub, &options->timeout, "Seconds that each step of a job may take");
  add_jobs_option(*sub, &options->jobs);
  add_json_flag(*sub, &options->json);
  sub->callback([=] { *command = [=] { return run(*options); }; });
}

}  // namespace kiln::cli

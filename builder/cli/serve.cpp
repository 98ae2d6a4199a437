// SPDX-License-Identifier: Apache-2.0
// kiln serve: runs an application that does not know Kiln, with the layer between it and its
// driver.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "builder/cli/shared/layer_options.hpp"
#include "builder/cli/shared/parse.hpp"
#include "builder/machine/platforms.hpp"
#include "builder/process/child_result.hpp"
#include "builder/process/temporary_folder.hpp"
#include "builder/sign/public_keys.hpp"
#include "builder/under_layer/background_build.hpp"
#include "builder/under_layer/enabled_layer.hpp"
#include "builder/under_layer/past_layer.hpp"
#include "builder/under_layer/report_sum.hpp"
#include "kiln/packs/signatures.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kRequired = {"final", "exact", "il"};
constexpr std::chrono::minutes kEachLook{1};  // at what is noted, while an application goes on
constexpr unsigned kBuildSeconds = 30;        // for which a container stays for a build

struct ServeArguments : LayerArguments {
  std::string print_form;  // print the variables in this form, and run nothing
  bool enable = false;     // switch the layer on for every application, and run nothing
  bool disable = false;
  bool is_user = false;  // of this user alone
};

// Opens a pack of the options, unless it is a folder of packs.
Status open_served(const std::string &path, std::shared_ptr<const packs::Pack> *out) {
  std::error_code error;
  if (fs::is_directory(path, error)) return {};
  return packs::Pack::open_file(path.c_str(), out);
}

Status check_packs(const ServeArguments &arguments) {
  for (const std::string &path : arguments.packs) {
    std::shared_ptr<const packs::Pack> pack;
    if (Status s = open_served(path, &pack); !s.ok()) return s;
  }
  return {};
}

bool is_signed(const std::string &path) {
  std::shared_ptr<const packs::Pack> pack;
  std::vector<packs::Signature> signatures;
  return open_served(path, &pack).ok() && pack != nullptr &&
         packs::read_signatures(*pack, &signatures).ok() && !signatures.empty();
}

// Returns the commands that add what can be recorded to the pack, if that is one file, and else
// make a pack to serve beside the others.
std::string commands_that_add(const ServeArguments &arguments) {
  std::error_code error;
  const bool merges = arguments.packs.size() == 1 && fs::is_regular_file(arguments.packs[0], error);
  const std::string pack =
      merges ? builder::shell_command({arguments.packs[0]}) : std::string("missing.kiln");
  return "  kiln record -o missing.spool -- " + builder::shell_command(arguments.command) +
         "\n  kiln compile missing.spool -o missing.base.kiln" +
         (merges ? "\n  kiln pack merge " + pack + " missing.base.kiln -o whole.base.kiln" +
                       "\n  kiln build whole.base.kiln -o " + pack +
                       (is_signed(arguments.packs[0]) ? "  # and sign it again" : "")
                 : "\n  kiln build missing.base.kiln -o " + pack + "  # for another --pack");
}

// Says what the gate saw. Returns whether every program was what --require allows.
bool passes_gate(const ServeArguments &arguments, const builder::ReportSums &sums) {
  if (sums.processes.empty()) {
    complain(
        "the application did not reach Kiln's layer, so nothing was checked; see 'kiln doctor'");
    return false;
  }
  std::size_t refused = 0;
  for (const auto &[outcome, row] : sums.rows)
    refused += outcome.first == "refused" ? row.count : 0;
  complain(fmt::format("--require {}: {} of {} program builds refused", arguments.require, refused,
                       builder::builds_of(sums)));
  if (refused == 0) return true;
  std::fputs(builder::report_builds_text(sums).c_str(), stderr);
  complain("these lines add to the pack what can be recorded, and build it for this device:\n" +
           commands_that_add(arguments));
  return false;
}

// Runs the application to its end, and has built meanwhile and afterwards what it notes in the
// overlay. Then judges it if it is to pass a gate.
int run_serving(const ServeArguments &arguments, const builder::Variables &variables,
                bool takes_layer) {
  std::error_code error;
  const std::uintmax_t before = fs::file_size(arguments.report, error);
  std::string overlay = arguments.shared.empty() ? variable("KILN_SHARED") : arguments.shared;
  const bool is_shared = !overlay.empty();
  if (!is_shared) {
    overlay = arguments.overlay.empty() ? variable("KILN_OVERLAY") : arguments.overlay;
  }
  builder::BackgroundBuild build(overlay, is_shared);
  builder::PastLayer past(*find_layer(), builder::driver_libraries());
  unsigned seconds = kBuildSeconds;  // stays unless the variable is a number
  const std::string asked = variable("KILN_BACKGROUND");
  std::from_chars(asked.data(), asked.data() + asked.size(), seconds);
  const bool builds = !overlay.empty() && seconds != 0;
  if (builds && build.cut_off() > 1) {
    complain(
        fmt::format("the last {} builds of {} ended before they had built a program: run '{}' "
                    "once, or give KILN_BACKGROUND more than {} seconds",
                    build.cut_off(), overlay,
                    builder::shell_command({"kiln", "overlay", "build", overlay}) +
                        (is_shared ? " --shared" : ""),
                    seconds));
  }
  const auto start = builder::Clock::now();
  auto looked = start;
  const builder::Meanwhile meanwhile = [&]() -> std::chrono::milliseconds {
    using std::chrono::milliseconds;
    const auto now = builder::Clock::now();
    past.look();
    if (builds && now - looked >= kEachLook) {
      build.look();
      looked = now;
    }
    const auto pause = std::chrono::duration_cast<milliseconds>((now - start) / 4);
    return std::clamp(pause, milliseconds(50), milliseconds(5000));
  };
  if (builds) build.look();  // what a build that was killed has left
  const auto exit =
      run_under_layer(arguments.command, variables, "serve", STDOUT_FILENO, &meanwhile);
  if (!exit.ok()) return fail(exit.status());
  if (const std::string found = past.found(); takes_layer && !found.empty()) {
    complain(found + " without Kiln's layer, so nothing was served to it; see 'kiln doctor'");
  }
  if (builds) {
    build.look();
    build.finish(std::chrono::seconds(seconds));
  }
  if (arguments.require.empty()) return builder::end_as(*exit);
  builder::ReportSums sums;
  std::istringstream lines(report_lines(arguments.report, error ? 0 : before));
  if (Status s = builder::add_report_lines(lines, arguments.report, &sums); !s.ok()) return fail(s);
  return passes_gate(arguments, sums) ? builder::end_as(*exit) : kSomeFailed;
}

// Fails if the gate would refuse everything, or the variable of its name is no word of it.
Status check_gate(const ServeArguments &arguments) {
  if (!CLI::IsMember(kRequired)(arguments.require).empty()) {
    return {Code::bad_argument, "KILN_REQUIRE: expected final, exact or il"};
  }
  const std::string rung = arguments.rung.empty() ? variable("KILN_RUNG") : arguments.rung;
  if (rung == "source" || (!rung.empty() && rung != "exact" && arguments.require != "il")) {
    return {Code::bad_argument,
            fmt::format("--rung {} and --require {} exclude each other", rung, arguments.require)};
  }
  return check_packs(arguments);
}

// What --enable cannot do for every application at once.
Status check_enabling(const ServeArguments &arguments, const builder::LoaderChoice &loader) {
  if (!arguments.command.empty()) return {Code::bad_argument, "--enable runs no command"};
  if (!arguments.overlay.empty() && !arguments.is_user) {
    return {Code::bad_argument,
            "an overlay belongs to one user: add --user, or name a folder for all with --shared"};
  }
  if (Status s = check_packs(arguments); !s.ok()) return s;
  if (!loader.why_not.empty()) return {Code::no_opencl, loader.why_not};
  if (!loader.preload.empty()) {
    return {Code::no_opencl, builder::refusal_of(*loader.found) +
                                 "; kiln serve puts another before it for one application alone"};
  }
  return {};
}

int enable(const ServeArguments &arguments) {
  const auto loader = choose_loader();
  if (!loader.ok()) return fail(loader.status());
  if (Status s = check_enabling(arguments, *loader); !s.ok()) return fail(s);
  auto variables = variables_of(arguments, *loader);
  if (!variables.ok()) return fail(variables.status());
  provision_served(arguments, true, &*variables);
  const auto whom = arguments.is_user ? builder::EnabledFor::user : builder::EnabledFor::machine;
  const auto written = builder::enable_layer(whom, *variables);
  if (!written.ok()) return fail(written.status());
  for (const std::string &path : *written) print("wrote " + path + "\n");
  print(std::string(
      "applications of sessions that begin from now on have the layer; 'kiln doctor' says so\n"));
  return kDone;
}

int disable(const ServeArguments &arguments) {
  const auto whom = arguments.is_user ? builder::EnabledFor::user : builder::EnabledFor::machine;
  const auto removed = builder::disable_layer(whom);
  if (!removed.ok()) return fail(removed.status());
  for (const std::string &path : *removed) print("removed " + path + "\n");
  if (removed->empty()) print(std::string("the layer was not enabled\n"));
  return kDone;
}

int serve(ServeArguments arguments) {
  if (arguments.is_user && !arguments.enable && !arguments.disable) {
    return fail({Code::bad_argument, "--user goes with --enable or --disable"});
  }
  if (arguments.disable) return disable(arguments);
  if (!arguments.enable && arguments.packs.empty() && arguments.overlay.empty() &&
      arguments.shared.empty()) {
    return fail({Code::bad_argument,
                 "kiln serve needs --pack, --overlay or --shared; see 'kiln serve --help'"});
  }
  auto keys = builder::read_public_key_lines(arguments.keys);
  if (!keys.ok()) return fail(keys.status());
  arguments.keys = *std::move(keys);
  if (arguments.enable) return enable(arguments);
  if (arguments.command.empty() == arguments.print_form.empty()) {
    return fail({Code::bad_argument, arguments.command.empty()
                                         ? "kiln serve needs a command; see 'kiln serve --help'"
                                         : "--print-env runs no command"});
  }
  const bool is_run = arguments.print_form.empty();
  if (is_run && arguments.require.empty()) arguments.require = variable("KILN_REQUIRE");
  const bool is_gate = is_run && !arguments.require.empty();
  if (is_gate) {
    if (Status s = check_gate(arguments); !s.ok()) return fail(s);
  }
  if (!arguments.overlay.empty()) unsetenv("KILN_SHARED");  // which would take its place
  std::error_code error;
  if (arguments.report.ends_with('/') || fs::is_directory(arguments.report, error)) {
    arguments.report_folder = std::exchange(arguments.report, {});
  }
  const auto loader = choose_loader();
  if (!loader.ok()) return fail(loader.status());
  if (is_gate && !loader->why_not.empty()) return fail({Code::no_opencl, loader->why_not});
  std::optional<builder::TemporaryFolder> folder;
  if (is_gate && arguments.report.empty()) {
    auto made = builder::TemporaryFolder::make();
    if (!made.ok()) return fail(made.status());
    arguments.report = made->path() + "/report";
    folder.emplace(*std::move(made));
  }
  auto variables = variables_of(arguments, *loader);
  if (!variables.ok()) return fail(variables.status());
  print_preload(*loader);
  if (loader->why_not.empty()) {
    provision_served(arguments, !arguments.print_form.empty(), &*variables);
  } else {
    complain(loader->why_not + "; the application runs without Kiln");
  }
  if (!arguments.print_form.empty()) {
    print(builder::variables_text(*variables, arguments.print_form));
    return kDone;
  }
  if (!arguments.overlay.empty()) {  // the layer makes the folder itself, and says if it cannot
    std::error_code ignored;
    fs::create_directories(fs::absolute(arguments.overlay, ignored).parent_path(), ignored);
  }
  return run_serving(arguments, *variables, loader->why_not.empty());
}

}  // namespace

void add_serve(CLI::App &app, Command *command) {
  auto arguments = std::make_shared<ServeArguments>();
  CLI::App *sub = app.add_subcommand(
      "serve", "Run an application with binaries from packs instead of compiling");
  add_serving_options(*sub, arguments.get());
  CLI::Option *shared =
      sub->add_option("--shared", arguments->shared,
                      "As --overlay, in a sticky folder that users and machines share: DIR/<uid>")
          ->type_name("DIR")
          ->excludes("--overlay");
  sub->add_option("--key", arguments->keys,
                  "Public key, as a file or text: also use what other users of --shared signed "
                  "with it; repeatable")
      ->allow_extra_args(false)
      ->needs(shared)
      ->type_name("KEY");
  add_application(*sub, arguments.get());
  add_report_option(*sub, &arguments->report,
                    "Append a line of JSON for each program; to a folder, or with '/' at the end: "
                    "to a file of each process there, for collecting");
  sub->add_option(
         "--require", arguments->require,
         "Require 'final' code, an 'exact' binary or at least 'il': a program that needs more "
         "fails to build, and the exit code is 1")
      ->type_name("WORD")
      ->check(CLI::IsMember(kRequired).description(""));
  add_rung_option(*sub, &arguments->rung);
  sub->add_option("--print-env", arguments->print_form,
                  "Run nothing; print the variables that do the same: for 'sh', 'environment.d', "
                  "'systemd', 'desktop' or 'container'")
      ->type_name("FORM")
      ->check(CLI::IsMember(builder::environment_forms()).description(""));
  CLI::Option *enabling =
      sub->add_flag("--enable", arguments->enable,
                    "Run nothing; have every application of this machine start with the layer, and "
                    "with these packs and this folder")
          ->excludes("--print-env")
          ->excludes("--require")
          ->excludes("--rung");
  CLI::Option *disabling =
      sub->add_flag("--disable", arguments->disable, "Take --enable back")->excludes(enabling);
  sub->add_flag("--user", arguments->is_user, "With --enable and --disable: of this user alone");
  for (CLI::Option *other : sub->get_options()) {
    const std::string name = other->get_single_name();
    if (other != disabling && name != "user" && name != "help") disabling->excludes(other);
  }
  sub->callback([=] { *command = [=] { return serve(*arguments); }; });
}

}  // namespace kiln::cli

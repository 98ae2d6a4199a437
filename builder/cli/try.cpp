// SPDX-License-Identifier: Apache-2.0
// kiln try: records an application, builds a pack of its programs, runs the application again from
// that pack, and compares both runs.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "builder/base/table.hpp"
#include "builder/base/whole_file.hpp"
#include "builder/cli/shared/layer_options.hpp"
#include "builder/cli/shared/parse.hpp"
#include "builder/cli/shared/supervised.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/machine/driver_caches.hpp"
#include "builder/process/child_result.hpp"
#include "builder/process/foreground.hpp"
#include "builder/process/temporary_folder.hpp"
#include "builder/under_layer/record_summary.hpp"
#include "builder/under_layer/report_sum.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct TryArguments : LayerArguments {  // the command alone
  std::string output;                   // empty: the application's name with .kiln
  bool json = false;
};

// What a run prints. The application writes to a file: the end of a pipe would be awaited as long
// as any process that the application leaves behind has it open.
class Printed {
 public:
  // What is in the file is passed on to `to`, standard output or standard error.
  Printed(const std::string &path, int to)
      : file_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600)), to_(to) {}

  const packs::Descriptor &file() const { return file_; }

  // Passes on what is new.
  void pass_on() {
    std::array<std::uint8_t, 65'536> bytes;
    for (std::size_t size = bytes.size(); size == bytes.size(); passed_ += size) {
      if (packs::read_all(file_.get(), passed_, bytes.data(), &size) != 0) return;
      (void)packs::write_all(to_, {bytes.data(), size});
    }
  }

 private:
  packs::Descriptor file_;
  int to_;
  std::uint64_t passed_ = 0;
};

// A run of the application under the layer.
struct LayerRun {
  builder::ProcessExit exit;
  double seconds = 0;        // from its start to its end
  std::string lines;         // its report
  std::string printed;       // path of its standard output
  builder::ReportSums sums;  // of the report
};

// Returns the pack's path. Fails with Code::failed if nothing can be written there or if the file
// there must stay. A pack that the user did not name is never replaced: it may be of another script
// with the same interpreter.
Result<std::string> choose_output(const TryArguments &arguments) {
  const std::string path = !arguments.output.empty()
                               ? arguments.output
                               : fs::path(arguments.command[0]).filename().string() + ".kiln";
  std::error_code error;
  const bool exists = fs::exists(path, error);
  if (exists && arguments.output.empty()) {
    return Status(Code::failed,
                  fmt::format("{} exists; 'kiln try -o {}' replaces it, and keeps its binaries of "
                              "the same programs",
                              path, path));
  }
  if (Status s = check_output(path, {}); !s.ok()) return s;
  if (!exists) return path;
  const auto earlier = read_pack(path);  // as 'kiln build' does, but before anything runs
  if (earlier.ok()) return path;
  return Status(earlier.status().code,
                earlier.status().message + "\nkiln: it is not replaced; give another output");
}

// Runs the application with empty driver caches below `folder`, so that both runs are alike.
Result<LayerRun> run_application(const TryArguments &arguments, const LayerArguments &run_as,
                                 builder::Variables variables, const char *mode,
                                 const std::string &folder) {
  builder::use_driver_caches(folder + "/" + mode);
  const auto start = builder::Clock::now();
  provision_served(run_as, false, &variables);
  const std::string path = fmt::format("{}/{}.printed", folder, mode);
  Printed printed(path, arguments.json ? STDERR_FILENO : STDOUT_FILENO);
  if (!printed.file()) return Status(Code::failed, path + ": " + std::strerror(errno));
  const builder::Meanwhile meanwhile = [&printed] {
    printed.pass_on();
    return std::chrono::milliseconds(20);
  };
  const auto exit =
      run_under_layer(arguments.command, variables, mode, printed.file().get(), &meanwhile);
  if (!exit.ok()) return exit.status();
  const double seconds = builder::milliseconds_since(start) / 1000;
  printed.pass_on();
  LayerRun run{*exit, seconds, report_lines(run_as.report), path, {}};
  std::istringstream lines(run.lines);
  if (Status s = builder::add_report_lines(lines, run_as.report, &run.sums); !s.ok()) return s;
  return run;
}

void print_failure(const char *which, const builder::ProcessExit &exit) {
  if (exit.done()) return;
  complain(fmt::format("the {} run ended with {} {}", which,
                       exit.end == builder::ProcessEnd::exited ? "exit code" : "signal",
                       exit.code));
}

// Runs a command of this executable, and returns its exit code. Its standard output is standard
// error, or nothing.
int run_kiln(std::vector<std::string> words, bool is_quiet) {
  words.insert(words.begin(), builder::executable_folder() / "kiln");
  const builder::ProcessExit exit = builder::run_foreground(words, [is_quiet] {
    builder::restore_signals();
    dup2(is_quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : STDERR_FILENO, STDOUT_FILENO);
  });
  if (exit.end == builder::ProcessEnd::not_started) return kNoDevice;
  return builder::end_as(exit);
}

// Returns the values of --device for 'kiln build': the devices that the application built programs
// for. An empty one stands for all devices, also if the report names none.
std::vector<std::string> used_devices(const builder::ReportSums &sums) {
  const auto devices = builder::list_devices();
  std::vector<std::string> used;
  if (devices.ok()) {
    for (const builder::DeviceInfo &device : *devices) {
      const auto &name = device.identity.text(runtime::Field::device_name);
      if (sums.devices.contains(name)) used.push_back(std::to_string(device.index));
    }
  }
  if (used.empty() || used.size() == devices->size()) return {""};
  return used;
}

// Makes the pack of what is in the spool. Returns the worst exit code of the commands.
int build_pack(const std::string &spool, const std::string &output, const std::string &folder,
               const builder::ReportSums &recorded) {
  const std::string base = folder + "/base.kiln";
  int worst = run_kiln({"compile", "--keep-going", spool, "-o", base}, true);
  std::error_code error;
  if (!fs::exists(base, error)) return worst;
  for (const std::string &device : used_devices(recorded)) {
    std::vector<std::string> words = {"build", base, "-o", output};
    if (!device.empty()) words.insert(words.end(), {"--device", device});
    worst = std::max(worst, run_kiln(words, false));
  }
  return worst;
}

std::vector<std::string> serve_command(const TryArguments &arguments, const std::string &output) {
  std::vector<std::string> words = {"kiln", "serve", "--pack", output, "--"};
  words.insert(words.end(), arguments.command.begin(), arguments.command.end());
  return words;
}

std::string row_text(const char *name, const LayerRun &run) {
  const auto &firsts = run.sums.first_results;
  return fmt::format("{}\t{:.2f}\t{}\t{:.3f}\t{}\n", name, run.seconds,
                     builder::builds_of(run.sums), builder::build_milliseconds(run.sums) / 1000,
                     firsts.empty() ? "-" : fmt::format("{:.2f}", firsts[0].second / 1000));
}

json run_json(const LayerRun &run) {
  const bool exited = run.exit.end == builder::ProcessEnd::exited;
  return {{"seconds", run.seconds},
          {"exit", exited ? run.exit.code : -1},
          {"report", builder::report_sums_json(run.sums)}};
}

// Returns where the texts differ first, for people; empty if they are equal.
std::string difference(const std::string &recorded, const std::string &served) {
  const auto [at, other] =
      std::mismatch(recorded.begin(), recorded.end(), served.begin(), served.end());
  if (at == recorded.end() && other == served.end()) return "";
  const auto begin = recorded.rfind('\n', static_cast<std::size_t>(at - recorded.begin()) - 1);
  const std::size_t line = at == recorded.begin() || begin == std::string::npos ? 0 : begin + 1;
  const auto line_of = [line](const std::string &text) {
    constexpr std::size_t kShown = 60;
    const std::string whole = text.substr(line, text.find('\n', line) - line);
    return builder::printable_line(whole.size() > kShown ? whole.substr(0, kShown) + "..." : whole);
  };
  return fmt::format(
      "line {}: \"{}\" and \"{}\"",
      1 + std::count(recorded.begin(), recorded.begin() + static_cast<std::ptrdiff_t>(line), '\n'),
      line_of(recorded), line_of(served));
}

void print_result(const TryArguments &arguments, const std::string &output,
                  const LayerRun &recorded, const LayerRun &served) {
  const std::vector<std::string> command = serve_command(arguments, output);
  if (const std::size_t own = served.sums.own_binaries.count; own != 0) {
    std::string folders;
    for (const std::string &folder : builder::own_cache_folders(variable("HOME")))
      folders += (folders.empty() ? " (" : ", ") + folder;
    complain(
        fmt::format("in the served run {} came from the application's own cache, not from the "
                    "pack: empty it{} or switch it off, and try again",
                    count(own, "program"), folders.empty() ? "" : folders + ")"));
  }
  const std::string differs = difference(builder::read_whole_file(recorded.printed).value_or(""),
                                         builder::read_whole_file(served.printed).value_or(""));
  if (arguments.json) {
    print(json{{"schema", 1},
               {"pack", output},
               {"same_output", differs.empty()},
               {"serve", command},
               {"recorded", run_json(recorded)},
               {"served", run_json(served)}});
    return;
  }
  complain(std::string("both runs began with empty driver caches") +
           (differs.empty() ? ", and printed the same" : ""));
  pass_on(builder::table_text("run\twhole run, s\tprogram builds\tbuilds, s\tfirst result, s\n" +
                                  row_text("recorded", recorded) + row_text("served", served),
                              "<>>>>"));
  if (const std::string text = builder::report_builds_text(served.sums); !text.empty())
    pass_on("\nthe served run's program builds" + text + "\n");
  if (!differs.empty()) complain("the runs printed different texts, first in " + differs);
  complain(fmt::format("{} {}; this runs the application with it:\n  {}",
                       differs.empty() ? "keep" : "if two runs without Kiln differ, too, keep",
                       output, builder::shell_command(command)));
}

// Returns the first failure of the application, or else Kiln's exit code.
int end(const LayerRun &recorded, const LayerRun *served, int code) {
  if (served != nullptr && !served->exit.done()) return builder::end_as(served->exit);
  return recorded.exit.done() ? code : builder::end_as(recorded.exit);
}

// Does everything in `folder`, which is empty.
int run_in(const TryArguments &arguments, const std::string &output, const std::string &folder) {
  LayerArguments recording = arguments, serving = arguments;
  recording.report = folder + "/recorded.report";
  recording.spool = folder + "/spool";
  serving.report = folder + "/served.report";
  serving.packs = {output};
  if (Status s = make_spool(recording.spool); !s.ok()) return fail(s);
  const auto loader = choose_loader();
  if (!loader.ok()) return fail(loader.status());
  if (!loader->why_not.empty()) return fail({Code::no_opencl, loader->why_not});
  const auto to_record = variables_of(recording, *loader),
             to_serve = variables_of(serving, *loader);
  for (const auto *variables : {&to_record, &to_serve}) {
    if (!variables->ok()) return fail(variables->status());
  }
  print_preload(*loader);
  unsetenv("KILN_OVERLAY");  // the pack alone is tried
  unsetenv("KILN_SHARED");
  const off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);

  const auto recorded = run_application(arguments, recording, *to_record, "record", folder);
  if (!recorded.ok()) return fail(recorded.status());
  print_failure("recorded", recorded->exit);
  complain(
      builder::recording_text(recorded->lines, "", builder::own_cache_folders(variable("HOME"))));
  std::vector<std::string> programs;
  if (Status s = packs::packs_in(recording.spool, &programs); !s.ok()) return fail(s);
  if (programs.empty() || recorded->exit.end == builder::ProcessEnd::signalled) {
    complain("no pack was made");
    return end(*recorded, nullptr, kSomeFailed);
  }
  const int code = build_pack(recording.spool, output, folder, recorded->sums);
  if (std::error_code error; !fs::exists(output, error)) return end(*recorded, nullptr, code);

  if (input >= 0) lseek(STDIN_FILENO, input, SEEK_SET);
  const auto served = run_application(arguments, serving, *to_serve, "serve", folder);
  if (!served.ok()) return fail(served.status());
  print_failure("served", served->exit);
  print_result(arguments, output, *recorded, *served);
  return end(*recorded, &*served, code);
}

int run(const TryArguments &arguments) {
  const auto output = choose_output(arguments);
  if (!output.ok()) return fail(output.status());
  const std::string place = variable("TMPDIR");
  supervise_command("interrupted");
  const auto folder = builder::TemporaryFolder::make();
  if (!folder.ok()) return fail(folder.status());
  // The application has its own temporary files where it has them without Kiln.
  place.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", place.c_str(), 1);
  return run_in(arguments, *output, folder->path());
}

}  // namespace

void add_try(CLI::App &app, Command *command) {
  auto arguments = std::make_shared<TryArguments>();
  CLI::App *sub = app.add_subcommand(
      "try", "Run an application twice, first recorded, then with binaries, and compare the runs");
  add_output_option(*sub, &arguments->output,
                    "Pack to write; if it exists, its targets and measurements are kept; default: "
                    "the application's name with .kiln, which must not exist");
  add_application(*sub, arguments.get());
  sub->get_option("command")->required();
  add_json_flag(*sub, &arguments->json);
  sub->callback([=] { *command = [=] { return run(*arguments); }; });
}

}  // namespace kiln::cli

// SPDX-License-Identifier: Apache-2.0
// Code that the subcommands share: their declarations, output, progress, exit codes, host tools.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/base/progress_text.hpp"
#include "builder/base/this_process.hpp"
#include "builder/compile/base_pack.hpp"
#include "builder/device/opened_device.hpp"
#include "builder/inspect/pack_files.hpp"
#include "builder/jobs/build_observer.hpp"
#include "builder/launch/reference.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/pack_folder.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::cli {

// The executable's name, which each main() defines.
extern const char *const kToolName;

// Shows the progress of steps that are done one after another. Rate and remaining time are
// estimated from the previous calls.
void progress(const std::string &what, std::size_t done, std::size_t all);

// Clears the progress line on the terminal, if there is one.
void end_progress();

class BuildProgress final : public builder::BuildObserver {
 public:
  void planned(const builder::PlanCounts &counts, std::size_t workers) override;
  void started(const builder::ObservedJob &job, std::size_t worker) override;
  void ended(const builder::ObservedJob &job, const builder::JobEnd &end) override;
  void still_running(const std::vector<builder::RunningJob> &running) override;

 private:
  void show();

  std::size_t all_ = 0, done_ = 0, compiled_ = 0, failed_ = 0;
  std::map<std::size_t, std::string> running_;  // names by number
  builder::Clock::time_point start_{};          // when the first job started
};

using builder::as_failed;
using builder::check_output;
using builder::check_program;
using builder::Code;
using builder::count;
using builder::find_devices;
using builder::in_pack;
using builder::open_checked_pack;
using builder::open_pack;
using builder::OpenPack;
using builder::Result;
using builder::Status;
using builder::write_output;

// Exit codes of every subcommand.
enum ExitCode {
  kDone = 0,
  kSomeFailed = 1,  // some jobs or checks failed, or nothing could be written
  kUsage = 2,
  kBadManifest = 3,
  kBadPack = 4,
  kNoDevice = 5,  // no device, no OpenCL, or a missing tool
  kInterrupted = 130,
};

// Runs the subcommand that the command line chose, and returns the exit code.
using Command = std::function<int()>;

// Each function adds one subcommand. Parsing a command line that chooses the subcommand sets
// `*command`.
void add_apply(CLI::App &app, Command *command);
void add_bench(CLI::App &app, Command *command);
void add_build(CLI::App &app, Command *command);
void add_compile(CLI::App &app, Command *command);
void add_delta(CLI::App &app, Command *command);
void add_devices(CLI::App &app, Command *command);
void add_diff(CLI::App &app, Command *command);
void add_explain(CLI::App &app, Command *command);
void add_doctor(CLI::App &app, Command *command);
void add_extract(CLI::App &app, Command *command);
void add_fetch(CLI::App &app, Command *command);
void add_fleet(CLI::App &app, Command *command);
void add_inspect(CLI::App &app, Command *command);
void add_keys(CLI::App &app, Command *command);
void add_list(CLI::App &app, Command *command);
void add_merge(CLI::App &app, Command *command);
void add_overlay(CLI::App &app, Command *command);
void add_provision(CLI::App &app, Command *command);
void add_publish(CLI::App &app, Command *command);
void add_record(CLI::App &app, Command *command);
void add_remove(CLI::App &app, Command *command);
void add_report(CLI::App &app, Command *command);
void add_run(CLI::App &app, Command *command);
void add_serve(CLI::App &app, Command *command);
void add_sign(CLI::App &app, Command *command);
void add_slice(CLI::App &app, Command *command);
void add_stubs(CLI::App &app, Command *command);
void add_store(CLI::App &app, Command *command);
void add_tag(CLI::App &app, Command *command);
void add_try(CLI::App &app, Command *command);
void add_tune(CLI::App &app, Command *command);
void add_verify(CLI::App &app, Command *command);
void add_watch(CLI::App &app, Command *command);

// Returns JSON text as Kiln writes it. Bytes that are not UTF-8, as in the names of some devices,
// become U+FFFD.
std::string json_text(const nlohmann::json &json);
std::string one_line(const nlohmann::json &json);  // the same in one line, without its end
// Print a result on standard output. Text passes through builder::printable(), because names come
// from packs and drivers. JSON, and print_as_is() with text that is not meant for a terminal, stay
// as they are.
void print(const std::string &text);
void print(const nlohmann::json &json);
void print_as_is(const std::string &text);
// Prints a diagnostic on standard error, after "kiln: ", made printable as results are.
void complain(const std::string &text);
// Prints like complain(), but without "kiln: ": a compiler's message names its source itself.
void pass_on(const std::string &text);

// Returns the exit code for a status.
int exit_code_of(const Status &status);

// Prints the message of a failed status and returns its exit code.
int fail(const Status &status);

// Flushes standard output and returns the exit code of the command: kSomeFailed instead of kDone if
// print() could not write everything. Prints the reason, unless the reader closed the pipe, as
// `head` does.
int end_output(int exit_code);

// Adds --references and --no-check.
void add_reference_options(CLI::App &command, builder::ReferenceOptions *options);

// Default limit of a job's process, in bytes.
inline constexpr std::uint64_t kJobMemory = std::uint64_t{4} << 30;

// The contents to build from, and the variants that failed in the host step or have no IL.
struct Input {
  packs::Contents contents;
  std::vector<builder::VariantFailure> failures;
  std::vector<builder::VariantFailure> without_il;
  // What a manifest's contents were made of: the manifest, its sources, the files that these
  // include, and the host tools. Empty for a base pack or a spool.
  std::set<std::string> files{};
  std::size_t stored = 0;  // variants whose host step was in the store

  int exit_code() const { return failures.empty() ? kDone : kSomeFailed; }
};

// Returns the width of the terminal that `output` is; 80 if it is none.
std::size_t terminal_columns(int output);

using builder::variable;

// Paths of the host tools, by the variables KILN_CLANG, KILN_LLVM_SPIRV and KILN_SPIRV_VAL; empty:
// they are searched for.
struct HostTools {
  std::string clang = variable("KILN_CLANG");
  std::string llvm_spirv = variable("KILN_LLVM_SPIRV");
  std::string spirv_val = variable("KILN_SPIRV_VAL");
};
bool is_manifest(const std::string &path);  // decides by the file name
// Returns the contents to build from: a pack without its targets, or a manifest after its host
// step. Prints every error and compiler message itself. If there is nothing to build from, returns
// nothing and sets `*exit_code`.
std::optional<Input> compile_manifest(const Result<builder::Manifest> &manifest,
                                      const std::string &path, const HostTools &tools,
                                      const builder::HostStepOptions &options, int *exit_code);
std::optional<Input> read_input(const std::string &path, const HostTools &tools,
                                const builder::HostStepOptions &options, int *exit_code);

// Locks the output's folder, from before the output is read again until it is written, so that no
// other command replaces its files. Says so if it has to wait.
packs::FolderLock lock_output(const std::string &path);

// Adds --compress.
void add_compress_option(CLI::App &command, packs::WriteOptions *options);

// Calls builder::supervise(). An interrupt clears the progress line on the terminal, and prints
// `text` if there is one.
void supervise_command(const std::string &text = "");

}  // namespace kiln::cli

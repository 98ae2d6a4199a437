// SPDX-License-Identifier: Apache-2.0
// What the subcommands share: output, how far a command is, exit codes, reading and writing packs.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"
#include "builder/base/progress_text.hpp"
#include "builder/base/this_process.hpp"
#include "builder/compile/base_pack.hpp"
#include "builder/device/opened_device.hpp"
#include "builder/inspect/spool.hpp"
#include "builder/jobs/build_observer.hpp"
#include "builder/launch/reference.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/pack_folder.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::cli {

// The executable's name, which each main() defines.
extern const char *const kToolName;

// The same of something that is done one after another: rate and remaining time are estimated from
// the calls before.
void progress(const std::string &what, std::size_t done, std::size_t all);

// Takes the line from the terminal, if there is one.
void end_progress();

class BuildProgress final : public builder::BuildObserver {
 public:
  void planned(const builder::PlanCounts &counts, std::size_t workers) override;
  void started(const builder::ObservedJob &job, std::size_t worker) override;
  void ended(const builder::ObservedJob &job, const builder::JobEnd &end) override;
  void looked(const std::vector<builder::RunningJob> &running) override;

 private:
  void show();

  std::size_t all_ = 0, done_ = 0, compiled_ = 0, failed_ = 0;
  std::map<std::size_t, std::string> running_;  // names by number
  builder::Clock::time_point start_{};          // of the first that ran
};

// Events of a command, a line of JSON each.
class EventOutput {
 public:
  // "-" is standard output, and "" nowhere; a file is emptied. Fails with Code::failed.
  builder::Status open(const std::string &path);

  // Whoever reads has the line at once. What cannot be written is told once, on standard error;
  // a command goes on all the same.
  void write(const nlohmann::json &event);

 private:
  bool is_standard_output() const { return path_ == "-"; }

  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file_{nullptr, std::fclose};
};

using builder::Code;
using builder::Result;
using builder::Status;

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

// Each adds one subcommand. Parsing a command line that chooses it sets `*command`.
void add_apply(CLI::App &app, Command *command);
void add_bench(CLI::App &app, Command *command);
void add_build(CLI::App &app, Command *command);
void add_compile(CLI::App &app, Command *command);
void add_crosscheck(CLI::App &app, Command *command);
void add_delta(CLI::App &app, Command *command);
void add_devices(CLI::App &app, Command *command);
void add_diff(CLI::App &app, Command *command);
void add_explain(CLI::App &app, Command *command);
void add_export(CLI::App &app, Command *command);
void add_extract(CLI::App &app, Command *command);
void add_fetch(CLI::App &app, Command *command);
void add_harvest(CLI::App &app, Command *command);
void add_inspect(CLI::App &app, Command *command);
void add_merge(CLI::App &app, Command *command);
void add_overlay(CLI::App &app, Command *command);
void add_plan(CLI::App &app, Command *command);
void add_provision(CLI::App &app, Command *command);
void add_prune(CLI::App &app, Command *command);
void add_publish(CLI::App &app, Command *command);
void add_record(CLI::App &app, Command *command);
void add_run(CLI::App &app, Command *command);
void add_serve(CLI::App &app, Command *command);
void add_sign(CLI::App &app, Command *command);
void add_slice(CLI::App &app, Command *command);
void add_store(CLI::App &app, Command *command);
void add_tune(CLI::App &app, Command *command);
void add_verify(CLI::App &app, Command *command);
void add_warm(CLI::App &app, Command *command);

// As Kiln writes it; what is no UTF-8, as some devices' names, becomes U+FFFD.
std::string json_text(const nlohmann::json &json);
// A result, on standard output: text as builder::printable() gives it, since names come from packs
// and drivers; JSON, and other text that no terminal is to show, as it is.
void print(const std::string &text);
void print(const nlohmann::json &json);
void print_as_is(const std::string &text);
// A diagnostic, on standard error, with "kiln: " before it; printable as results are.
void complain(const std::string &text);
// "1 program", "2 programs", "3 entries".
std::string count(std::size_t n, const std::string &noun);
// The same without "kiln: ": a compiler's message, which names its source itself.
void pass_on(const std::string &text);

struct OpenPack {
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
};

// The exit code that a status means.
int exit_code_of(const Status &status);

// Prints the message of a failed status and returns its exit code.
int fail(const Status &status);

// Flushes standard output and returns the exit code of the command: kSomeFailed in place of kDone
// if print() could not write all. Prints why, unless the reader closed the pipe, as `head` does.
int end_output(int exit_code);

// "90", "90s", "500ms", "2m" in seconds, at most a day. Fails with Code::bad_argument for any
// other text.
Result<double> read_budget(const std::string &text);
// The sizes of --sizes. Fails with Code::bad_argument where one is none.
Result<std::vector<builder::ProblemSize>> read_sizes(const std::vector<std::string> &texts);

// Reads a pack with every section. Fails with the code of the pack's fault; the message ends with
// its name.
Result<OpenPack> open_pack(const std::string &path);
// The same status, whose message says in which file and ends with the code's name.
Status in_pack(const std::string &path, const Status &status);
// As open_pack(), and fails with Code::conflict if builder::check_variants() does: for commands
// that trust the hashes and names of programs.
Result<OpenPack> open_checked_pack(const std::string &path);
// Whether it is a folder, as kiln record makes, and what is in it. Fails as open_pack() does, and
// with Code::failed where it holds no packs.
bool is_spool(const std::string &path);
Result<builder::Spool> open_spool(const std::string &path);

// --references and --no-check.
void add_reference_options(CLI::App &command, builder::ReferenceOptions *options);

// The devices that `selector` names. Fails with Code::no_device when there are none; the message
// lists all devices.
Result<std::vector<builder::DeviceInfo>> find_devices(const std::string &selector);

// What to build from, and the variants that failed in the host step or have no IL.
struct Input {
  packs::Contents contents;
  std::vector<builder::VariantFailure> failures;
  std::vector<builder::VariantFailure> without_il;

  int exit_code() const { return failures.empty() ? kDone : kSomeFailed; }
};

// Paths of the host tools; empty: they are searched for.
struct HostTools {
  std::string clang;
  std::string llvm_spirv;
  std::string spirv_val;
};
void add_host_tools(CLI::App &command, HostTools *tools);
bool is_manifest(const std::string &path);  // by its name
// The contents to build from: a base pack as it is, or a manifest after its host step. Prints
// every error and compiler message itself, each as it is. If there is nothing to build from,
// returns nothing and sets `*exit_code`.
std::optional<Input> read_input(const std::string &path, const HostTools &tools, int *exit_code);

// Checks that a file can be made at `path`, before any work is done for it. Fails with
// Code::bad_argument when it is one of `inputs`, which would be lost, and with Code::failed when
// the folder refuses it.
Status check_output(const std::string &path, const std::vector<std::string> &inputs);

// Keeps other commands from replacing what is in the output's folder, from before the output is
// read again until it is written; says so where it has to wait.
packs::FolderLock lock_output(const std::string &path);

// The contents to add records to: `read`, or, where the output replaces the input, the input read
// again, since another command may have added to it. Call it under lock_output().
Result<packs::Contents> latest_contents(const std::string &input, const std::string &output,
                                        const packs::Contents &read);

// Writes the pack. Fails with Code::blob_corrupt where a blob of an input is damaged, and
// otherwise with Code::failed.
Status write_output(const packs::Contents &contents, const std::string &path,
                    const packs::WriteOptions &options = {});

// The same failure with Code::failed: an I/O error of a file that is no pack, whose code would give
// the exit code of a bad pack.
Status as_failed(const Status &written);
// --uncompressed.
void add_write_options(CLI::App &command, packs::WriteOptions *options);
// --for alone, which is one of those.
void add_purpose_option(CLI::App &command, packs::WriteOptions *options);

// builder::supervise(). An interrupt takes the progress line from the terminal, and tells `text`
// if there is one.
void supervise_command(const std::string &text = "");

}  // namespace kiln::cli

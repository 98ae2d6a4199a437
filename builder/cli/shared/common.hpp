// SPDX-License-Identifier: Apache-2.0
// Code that the subcommands share: their declarations, output, progress, exit codes.
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
#include "builder/inspect/pack_files.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/run/reference.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/pack_folder.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::cli {

// Shows the progress of steps that are done one after another. Rate and remaining time are
// estimated from the previous calls.
void progress(const std::string &what, std::size_t done, std::size_t all);

// Shows progress on standard error: on a terminal in one line that is overwritten, elsewhere as
// occasional lines without control characters.
void show_progress(const builder::ProgressState &progress);

// Clears the progress line on the terminal, if there is one.
void end_progress();
// Does so even if another process has shown it.
void clear_progress();

using builder::as_failed;
using builder::check_output;
using builder::check_program;
using builder::Code;
using builder::count;
using builder::find_devices;
using builder::in_pack;
using builder::PackFile;
using builder::read_checked_pack;
using builder::read_pack;
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
void add_build(CLI::App &app, Command *command);
void add_compile(CLI::App &app, Command *command);
void add_delta(CLI::App &app, Command *command);
void add_devices(CLI::App &app, Command *command);
void add_diff(CLI::App &app, Command *command);
void add_explain(CLI::App &app, Command *command);
void add_bisect(CLI::App &app, Command *command);
void add_doctor(CLI::App &app, Command *command);
void add_fetch(CLI::App &app, Command *command);
void add_fleet_report(CLI::App &app, Command *command);
void add_inspect(CLI::App &app, Command *command);
void add_merge(CLI::App &app, Command *command);
void add_overlay(CLI::App &app, Command *command);
void add_provision(CLI::App &app, Command *command);
void add_publish(CLI::App &app, Command *command);
void add_record(CLI::App &app, Command *command);
void add_report(CLI::App &app, Command *command);
void add_run(CLI::App &app, Command *command);
void add_serve(CLI::App &app, Command *command);
void add_sign(CLI::App &app, Command *command);
void add_slice(CLI::App &app, Command *command);
void add_stubs(CLI::App &app, Command *command);
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

using builder::variable;

// Locks the output's folder, from before the output is read again until it is written, so that no
// other command replaces its files. Says so if it has to wait.
packs::FolderLock lock_output(const std::string &path);

// Adds --compress.
void add_compress_option(CLI::App &command, packs::WriteOptions *options);

}  // namespace kiln::cli

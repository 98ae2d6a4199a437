// What the subcommands share: output, exit codes, reading packs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "builder/compile/base_pack.hpp"
#include "builder/device/device_list.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::cli {

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

// The executable's name, which each main() defines.
extern const char *const kToolName;

// What the chosen subcommand will run.
using Command = std::function<int()>;

// Each adds one subcommand, which stores itself in `*command` when it is chosen.
void add_bench(CLI::App &app, Command *command);
void add_build(CLI::App &app, Command *command);
void add_compile(CLI::App &app, Command *command);
void add_crosscheck(CLI::App &app, Command *command);
void add_devices(CLI::App &app, Command *command);
void add_explain(CLI::App &app, Command *command);
void add_extract(CLI::App &app, Command *command);
void add_inspect(CLI::App &app, Command *command);
void add_merge(CLI::App &app, Command *command);
void add_overlay(CLI::App &app, Command *command);
void add_plan(CLI::App &app, Command *command);
void add_provision(CLI::App &app, Command *command);
void add_run(CLI::App &app, Command *command);
void add_tune(CLI::App &app, Command *command);
void add_verify(CLI::App &app, Command *command);
void add_warm(CLI::App &app, Command *command);

// A result, on standard output.
void print(const std::string &text);
void print(const nlohmann::json &json);
// A diagnostic, on standard error, with "kiln: " before it.
void complain(const std::string &text);
// "1 program", "2 programs".
std::string count(std::size_t n, const std::string &noun);
// Text that is whole already (a compiler's message), on standard error.
void pass_on(const std::string &text);
// A line that the next one overwrites; only where standard error is a terminal.
void progress(const std::string &what, std::size_t done, std::size_t all);
void end_progress();

struct OpenPack {
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents contents;
};

// Ends a command: what print() could not write is complained about and makes kDone into
// kSomeFailed; without a word where the reader closed the pipe, as `head` does.
int end_output(int exit_code);

// "90", "90s", "500ms", "2m" in seconds, at most a day; complains of any other text and gives
// nothing.
std::optional<double> read_budget(const std::string &text);
// The sizes of --sizes; complains and gives nothing where one is none.
std::optional<std::vector<builder::Size>> read_sizes(const std::vector<std::string> &texts);

// Reads a pack with every section; on failure complains and gives nothing (kBadPack).
std::optional<OpenPack> open_pack(const std::string &path);

// The devices that `selector` names. Complains and gives nothing when there are none
// (kNoDevice); the complaint lists what there is.
std::optional<std::vector<builder::DeviceInfo>> find_devices(const std::string &selector);

// The contents to build from: a base pack as it is, or a manifest after its host step.
// Compiler messages and failed variants are printed. `*exit_code` is set whenever
// something failed; with a result it is kSomeFailed or untouched. `failures`, if given, gets the
// variants that did not make it.
struct HostTools {
  std::string clang;
  std::string llvm_spirv;
  std::string spirv_val;
};
void add_host_tools(CLI::App &command, HostTools *tools);
bool is_manifest(const std::string &path);  // by its name
std::optional<packs::Contents> read_input(const std::string &path, const HostTools &tools,
                                          int *exit_code,
                                          std::vector<builder::VariantFailure> *failures = nullptr);

// Whether a file can be made at `path`, before any work is done for it: kDone; kUsage when it
// is one of `inputs`, which would be lost; kSomeFailed when the folder does not take it.
int check_output(const std::string &path, const std::vector<std::string> &inputs);

// Writes the pack; kDone, or after a complaint kSomeFailed, or kBadPack where a blob of an input
// is damaged.
int write_output(const packs::Contents &contents, const std::string &path,
                 const packs::WriteOptions &options = {});
void add_write_options(CLI::App &command, packs::WriteOptions *options);

}  // namespace kiln::cli

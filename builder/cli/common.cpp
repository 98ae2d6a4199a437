// SPDX-License-Identifier: Apache-2.0
// Output and its first failure, progress on the terminal, and the host step of several subcommands.
#include "builder/cli/common.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/jobs/device_build.hpp"
#include "builder/process/supervise.hpp"
#include "kiln/packs/dictionary.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::cli {

namespace {

bool line_shown = false;

bool is_terminal() {
  const char *kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && (kind == nullptr || std::string_view(kind) != "dumb");
}

double now_in_seconds() {
  return std::chrono::duration<double>(builder::Clock::now().time_since_epoch()).count();
}

int output_error = 0;  // errno of the first write to standard output that failed

// Prints each text once, because variants of one file have the same faults and warnings.
void pass_on_once(const std::string &text, std::set<std::string> *printed) {
  if (printed->insert(text).second) pass_on(text);
}

// Returns what failures that are alike have in common: the first error without its place.
std::string first_error(const builder::VariantFailure &failure) {
  const std::string &text = failure.status.message;
  const std::string own_name = failure.program + "/" + failure.variant + ": ";
  if (text.starts_with(own_name)) return text.substr(own_name.size());
  const std::size_t at = text.find(": error: ");
  return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
}

// Prints failures that are alike once, with the variants that have them. `of_one` may be empty.
void print_alike(const std::vector<builder::VariantFailure> &failures, const char *of_one,
                 const char *of_several) {
  std::vector<builder::JobFailure> all;
  std::map<std::string, std::string> firsts;  // by what is alike, the first whole message
  for (const builder::VariantFailure &failure : failures) {
    all.push_back({failure.program + "/" + failure.variant, first_error(failure)});
    firsts.emplace(all.back().text, failure.status.message);
  }
  for (const builder::FailureGroup &group : builder::group_failures(all)) {
    pass_on(firsts[group.text]);
    if (group.jobs.size() == 1) {
      if (*of_one != 0) complain(fmt::format(fmt::runtime(of_one), group.jobs.front()));
      continue;
    }
    complain(fmt::format(fmt::runtime(of_several), count(group.jobs.size(), "variant")));
    for (const std::string &job : group.jobs) pass_on("  " + job);
  }
}

void print_faults(const builder::BasePack &base) {
  std::set<std::string> printed;
  for (const std::string &warning : base.warnings) pass_on_once(warning, &printed);
  print_alike(base.failures, base.bad_sources ? "" : "{} does not compile", "{} fail alike:");
  print_alike(base.without_il, "warning: {} has no IL, its source is all there is",
              "warning: {} have no IL, their source is all there is:");
}

}  // namespace

std::optional<Input> compile_manifest(const Result<builder::Manifest> &manifest,
                                      const std::string &path, const HostTools &tools,
                                      const builder::HostStepOptions &options, int *exit_code) {
  if (!manifest.ok()) {
    pass_on(manifest.status().message);
    *exit_code = kBadManifest;
    return std::nullopt;
  }
  builder::ToolchainRequest request;
  request.clang = tools.clang;
  request.llvm_spirv = tools.llvm_spirv;
  request.spirv_val = tools.spirv_val;
  const auto toolchain = builder::find_toolchain(request);
  if (!toolchain.ok()) {
    pass_on(toolchain.status().message);
    *exit_code = kNoDevice;
    return std::nullopt;
  }
  builder::BasePack base =
      builder::make_base_pack(*manifest, path, *toolchain, options,
                              [](const std::string &what, std::size_t done, std::size_t all) {
                                progress("compiling " + what, done, all);
                              });
  end_progress();
  if (!base.store_status.ok()) {
    complain("going on without the store: " + base.store_status.message);
  }
  print_faults(base);
  if (base.bad_sources) {
    *exit_code = kBadManifest;
    return std::nullopt;
  }
  for (const auto *tool : {&toolchain->clang, &toolchain->llvm_spirv, &toolchain->spirv_val}) {
    if (!tool->empty()) base.files.insert(tool->string());
  }
  return Input{std::move(base.contents), std::move(base.failures), std::move(base.without_il),
               std::move(base.files), base.stored};
}

namespace {

// Shows progress on standard error: on a terminal in one line that is overwritten, elsewhere as
// occasional lines without control characters.
void show_progress(const builder::ProgressState &progress) {
  static builder::ProgressPace pace;
  const std::string text = builder::printable_line(builder::progress_text(progress));
  if (is_terminal()) {
    line_shown = true;
    std::fprintf(stderr, "\r\033[K%s",
                 builder::cut_line(text, terminal_columns(STDERR_FILENO) - 1).c_str());
    std::fflush(stderr);
  } else if (pace.passes(now_in_seconds())) {
    std::fprintf(stderr, "%s: %s\n", kToolName, text.c_str());
  }
}

// Clears the progress line, even if another process has shown it.
void clear_progress() {
  if (is_terminal()) std::fputs("\r\033[K", stderr);
}

}  // namespace

std::size_t terminal_columns(int output) {
  constexpr std::size_t kUsualColumns = 80;
  winsize size{};
  return ioctl(output, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

void progress(const std::string &what, std::size_t done, std::size_t all) {
  static builder::Clock::time_point start;
  static std::size_t before = 0, before_all = 0;
  if (done == 0 || done < before || all != before_all) {
    start = builder::Clock::now();
    before_all = all;
  }
  before = done;
  show_progress({done, all, done, builder::milliseconds_since(start) / 1000, 0, 1, what});
}

void end_progress() {
  if (!line_shown) return;
  line_shown = false;
  clear_progress();
}

void BuildProgress::planned(const builder::PlanCounts &counts, std::size_t /*workers*/) {
  all_ = counts.compile;
}

void BuildProgress::started(const builder::ObservedJob &job, std::size_t /*worker*/) {
  if (start_ == builder::Clock::time_point()) start_ = builder::Clock::now();
  running_.emplace(job.number, job.name);
  show();
}

void BuildProgress::ended(const builder::ObservedJob &job, const builder::JobEnd &end) {
  if (end.origin == builder::Origin::reused) return;
  ++done_;
  if (end.finish == nullptr) ++failed_;
  if (running_.erase(job.number) == 0) return;
  ++compiled_;
  show();
}

void BuildProgress::still_running(const std::vector<builder::RunningJob> & /*running*/) { show(); }

void BuildProgress::show() {
  show_progress({done_, all_, compiled_, builder::milliseconds_since(start_) / 1000, failed_,
                 running_.size(), running_.empty() ? "" : running_.begin()->second});
}

void print_as_is(const std::string &text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written && output_error == 0) output_error = errno;
}

void print(const std::string &text) { print_as_is(builder::printable(text)); }

std::string json_text(const nlohmann::json &json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string one_line(const nlohmann::json &json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
void print(const nlohmann::json &json) { print_as_is(json_text(json)); }

void complain(const std::string &text) {
  end_progress();
  pass_on(std::string(kToolName) + ": " + text);
}

void pass_on(const std::string &text) {
  std::string shown = builder::printable(text);
  if (shown.empty() || shown.back() != '\n') shown += '\n';
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

int exit_code_of(const Status &status) {
  switch (status.code) {
    case Code::ok: return kDone;
    case Code::bad_argument:
    case Code::not_in_pack: return kUsage;
    case Code::bad_input: return kBadManifest;
    case Code::no_opencl:
    case Code::no_device: return kNoDevice;
    case Code::no_space:
    case Code::opencl:
    case Code::requirement:
    case Code::no_rung:
    case Code::process:
    case Code::failed: return kSomeFailed;
    default: return kBadPack;  // all other codes are faults of packs
  }
}

int fail(const Status &status) {
  complain(status.message);
  return exit_code_of(status);
}

int end_output(int exit_code) {
  if (std::fflush(stdout) != 0 && output_error == 0) output_error = errno;
  if (output_error == 0) return exit_code;
  if (output_error != EPIPE)
    complain(fmt::format("standard output: {}", std::strerror(output_error)));
  return exit_code == kDone ? kSomeFailed : exit_code;
}

void add_reference_options(CLI::App &command, builder::ReferenceOptions *options) {
  command
      .add_option("--references", options->folder,
                  "Folder with the files and libraries that the manifest's references name")
      ->type_name("DIR");
  command.add_flag("--no-check", options->no_check, "Do not compare results");
}

bool is_manifest(const std::string &path) {
  return path.size() >= 5 && path.compare(path.size() - 5, 5, ".toml") == 0;
}

std::optional<Input> read_input(const std::string &path, const HostTools &tools,
                                const builder::HostStepOptions &options, int *exit_code) {
  if (is_manifest(path)) {
    auto input = compile_manifest(builder::read_manifest(path, options.roots), path, tools, options,
                                  exit_code);
    if (input) input->files.insert(path);
    return input;
  }
  if (!options.roots.empty()) {
    *exit_code = fail({Code::bad_argument, "--root is for the paths in a manifest"});
    return std::nullopt;
  }
  auto pack = open_checked_pack(path);
  if (!pack.ok()) {
    *exit_code = fail(pack.status());
    return std::nullopt;
  }
  pack->contents.targets.clear();
  return Input{std::move(pack->contents), {}, {}};
}

void add_compress_option(CLI::App &command, packs::WriteOptions *options) {
  static const std::map<std::string, packs::Purpose> kPurposes = {
      {"startup", packs::Purpose::startup},
      {"fleet", packs::Purpose::fleet},
      {"none", packs::Purpose::raw}};
  command
      .add_option_function<std::string>(
          "--compress",
          [options](const std::string &how) {
            const auto purpose = kPurposes.find(how);
            if (purpose == kPurposes.end()) {
              throw CLI::ValidationError("--compress",
                                         "expected startup, fleet or none, not " + how);
            }
            options->purpose = purpose->second;
            options->train = packs::train_dictionary;
          },
          "Store the pack anew: 'startup' (fast to decode), 'fleet' (small, and targets can be "
          "sliced out) or 'none' (uncompressed); default: only new data, as 'startup'")
      ->type_name("HOW");
}

packs::FolderLock lock_output(const std::string &path) {
  return packs::FolderLock(path, [](const std::string &folder) {
    complain("waiting for another command that writes to " + folder);
  });
}

void supervise_command(const std::string &text) {
  builder::supervise([text] {
    clear_progress();
    if (!text.empty()) complain(text);
  });
}

}  // namespace kiln::cli

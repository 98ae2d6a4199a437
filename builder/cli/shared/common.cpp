// SPDX-License-Identifier: Apache-2.0
// Output and its first failure, progress on the terminal, and options.
#include "builder/cli/shared/common.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

#include <unistd.h>

#include <fmt/format.h>

#include "builder/base/this_process.hpp"
#include "builder/inspect/printable.hpp"
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

}  // namespace

void show_progress(const builder::ProgressState &progress) {
  static builder::ProgressPace pace;
  const std::string text = builder::printable_line(builder::progress_text(progress));
  if (is_terminal()) {
    line_shown = true;
    std::fprintf(stderr, "\r\033[K%s",
                 builder::cut_line(text, builder::terminal_columns(STDERR_FILENO) - 1).c_str());
    std::fflush(stderr);
  } else if (pace.passes(now_in_seconds())) {
    std::fprintf(stderr, "kiln: %s\n", text.c_str());
  }
}

void clear_progress() {
  if (is_terminal()) std::fputs("\r\033[K", stderr);
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
  pass_on("kiln: " + text);
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

void add_compress_option(CLI::App &command, packs::WriteOptions *options) {
  static const std::map<std::string, packs::Purpose> kPurposes = {{"ready", packs::Purpose::ready},
                                                                  {"fleet", packs::Purpose::fleet},
                                                                  {"none", packs::Purpose::raw}};
  command
      .add_option_function<std::string>(
          "--compress",
          [options](const std::string &how) {
            const auto purpose = kPurposes.find(how);
            if (purpose == kPurposes.end()) {
              throw CLI::ValidationError("--compress", "expected ready, fleet or none, not " + how);
            }
            options->purpose = purpose->second;
          },
          "Rewrite the pack: 'ready' (an application's start decompresses nothing), 'fleet' "
          "(small) or 'none' "
          "(nothing is compressed); default: only new data, as 'ready'")
      ->type_name("HOW");
}

packs::FolderLock lock_output(const std::string &path) {
  return packs::FolderLock(path, [](const std::string &folder) {
    complain("waiting for another command that writes to " + folder);
  });
}

}  // namespace kiln::cli

// SPDX-License-Identifier: Apache-2.0
// Appends the report's lines, each in a single write, so that lines of several processes stay
// whole. A line for a folder names no folder of this machine.
#include "runtime/layer/base/build_report.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <unistd.h>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/files.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/layer/base/devices.hpp"
#include "runtime/layer/base/process.hpp"
#include "runtime/layer/base/settings.hpp"
#include "runtime/load/build.hpp"
#include "runtime/load/rungs.hpp"
#include "runtime/reports/report_folder.hpp"
#include "runtime/text/json.hpp"

namespace kiln::layer {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> was_launched{false};
std::atomic<bool> was_noted{false};

const char *outcome_of(const Built &built) {
  if (built.refused) return "refused";
  if (built.rung.empty()) return "passed";
  return runtime::is_compiled(built.rung) ? "compiled" : "served";
}

const char *recorded_word(Recorded recorded) {
  switch (recorded) {
    case Recorded::yes: return "yes";
    case Recorded::needless: return "needless";
    default: return "no";
  }
}

// Not %f: the application's locale may change its decimal point.
std::string milliseconds(std::chrono::microseconds time) {
  char text[32];
  std::snprintf(text, sizeof(text), "%lld.%03lld", static_cast<long long>(time.count() / 1000),
                static_cast<long long>(time.count() % 1000));
  return text;
}

std::chrono::microseconds since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
}

bool is_wanted() { return !settings().report.empty() || !settings().report_folder.empty(); }

void complain_of_report(const std::string &path, int error) {
  static std::atomic<bool> done{false};
  if (!done.exchange(true)) complain(path + ": no report: " + packs::open_fault(error));
}

int append_to_file(const std::string &line) {
  const packs::Descriptor file(open_to_append(settings().report));
  return file && packs::write_line(file.get(), line.data(), line.size()) ? 0 : errno;
}

int append_to_folder(const std::string &line) {
  static runtime::ReportFolder &folder = *new runtime::ReportFolder;
  static const int error = folder.open(settings().report_folder.c_str());
  return error != 0 ? error : folder.append(line);
}

// Appends a line to the file and to the folder, if there are such. `members` is given a function
// for texts that may name folders, and returns JSON that begins with a comma.
template <typename Members>
void append(const char *outcome, Members members) {
  using Shown = std::string (*)(std::string_view text);
  const auto line = [&](Shown shown) {
    return packs::concat({"{\"process\": \"", this_process(), "\", \"schema\": 1, \"outcome\": \"",
                          outcome, "\"", members(shown), "}"});
  };
  const Settings &to = settings();
  if (!to.report.empty()) {
    const Shown as_it_is = [](std::string_view text) { return std::string(text); };
    const int error = append_to_file(line(as_it_is) + "\n");
    if (error != 0) complain_of_report(to.report, error);
  }
  if (!to.report_folder.empty()) {
    const int error = append_to_folder(line(runtime::without_folders));
    if (error != 0) complain_of_report(to.report_folder, error);
  }
}

void append(const char *outcome, const std::string &members) {
  append(outcome, [&](auto) { return members; });
}

void add_text(const char *name, const std::string &value, std::string *members) {
  *members += packs::concat({", \"", name, "\": "});
  runtime::append_json(value, members);
}

// Adds what tells the kind of the devices, if they have one binary key.
void add_kind(const Devices &devices, std::string *members) {
  const Devices kinds = different(devices);
  kiln_device *opened = nullptr;
  if (kinds.size() != 1 || find_device(kinds[0], &opened, nullptr) != KILN_OK) return;
  const runtime::Device &device = *opened->device;
  add_text("key_hash", packs::hex64(device.key().hash()), members);
  add_text("model", device.description.model, members);
  add_text("driver", device.identity.text(runtime::Field::driver_version), members);
}

void add_list(const char *name, const std::set<std::string> &values, std::string *members) {
  std::string list;
  for (const std::string &value : values) {
    if (!list.empty()) list += ", ";
    runtime::append_json(value, &list);
  }
  *members += packs::concat({", \"", name, "\": [", list, "]"});
}

// Adds up the compilations of this process.
void note_compilation(const Built &built) {
  static std::atomic<std::int64_t> all{0};
  if (!settings().serve || built.refused) return;
  if (!built.rung.empty() && !runtime::is_compiled(built.rung)) return;
  const std::int64_t took = since(built.start).count();
  const std::int64_t before = all.fetch_add(took);
  const std::int64_t limit = std::chrono::microseconds(kLongCompilation).count();
  if (before > limit || before + took <= limit) return;
  complain(was_noted
               ? "this run compiles programs, and notes them for later runs"
               : "this run compiles programs that no pack has; a report names them (--report)");
}

}  // namespace

const std::string &this_process() {
  static const std::string &made = *[] {
    const std::uint64_t facts[] = {
        static_cast<std::uint64_t>(getpid()),
        static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count())};
    return new std::string(packs::hex64(packs::xxh3(facts, sizeof(facts))));
  }();
  return made;
}

void report_start() {
  if (!is_wanted()) return;
  append("started", [](auto shown) {
    std::string members;
    add_text("layer", settings().record ? "record" : "serve", &members);
    add_text("application", shown(runtime::executable_path()), &members);
    return members;
  });
}

void report_noted() { was_noted = true; }

void report_build(const Built &built, cl_program made) {
  const std::string time = milliseconds(since(built.start));
  note_compilation(built);
  if (!is_wanted()) return;
  const Devices devices = made == nullptr ? Devices() : devices_of(made);
  std::string what;
  add_text("program", built.program, &what);
  std::set<std::string> kernels = built.kernels;
  if (made != nullptr) {
    for (std::string &name : runtime::kernel_names(next_table(), made))
      kernels.insert(std::move(name));
  }
  add_list("kernels", kernels, &what);
  add_list("devices", device_names(devices), &what);
  add_kind(devices, &what);
  append(outcome_of(built), [&](auto shown) {
    std::string members = what;
    add_text("rung", built.rung, &members);
    add_text("reason", shown(built.reason), &members);
    members += ", \"nearest\": " + (built.nearest.empty() ? "null" : built.nearest);
    if (settings().record) add_text("recorded", recorded_word(built.recorded), &members);
    return members + ", \"milliseconds\": " + time;
  });
}

void report_own_binary(std::size_t bytes, Clock::time_point start) {
  if (!is_wanted()) return;
  append("own_binary", packs::concat({", \"bytes\": ", packs::decimal(bytes),
                                      ", \"milliseconds\": ", milliseconds(since(start))}));
}

void note_launch() { was_launched = true; }

void note_results() {
  static std::atomic<bool> done{false};
  if (!was_launched || !is_wanted() || done.exchange(true)) return;
  append("first_result", ", \"milliseconds\": " + milliseconds(age_of_process()));
}

}  // namespace kiln::layer

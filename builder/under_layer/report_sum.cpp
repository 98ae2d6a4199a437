// SPDX-License-Identifier: Apache-2.0
// Reads report lines member by member, and sorts the sums so that the most frequent come first.
#include "builder/under_layer/report_sum.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "builder/base/table.hpp"
#include "builder/base/whole_file.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/printable.hpp"
#include "kiln/packs/files.hpp"
#include "kiln/packs/path.hpp"
#include "runtime/device/device.hpp"
#include "runtime/load/rungs.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

// The outcomes of builds, in the order of the text.
constexpr std::array<std::string_view, 5> kBuilds = {"served", "compiled", "passed", "failed",
                                                     "refused"};

// A line that is longer is cut, and is then no JSON: a file without line ends must not fill the
// memory.
constexpr std::size_t kLongestLine = 1u << 20u;

constexpr std::size_t kMaxExamples = 3;
constexpr std::size_t kMaxReasons = 10;    // in the text
constexpr double kMaxMilliseconds = 1e12;  // 32 years; a larger number is no duration

std::size_t place_of(std::string_view outcome) {
  return static_cast<std::size_t>(std::find(kBuilds.begin(), kBuilds.end(), outcome) -
                                  kBuilds.begin());
}

std::string word_of(const json &line, const char *name) {
  const auto at = line.find(name);
  return at != line.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::optional<double> time_of(const json &line) {
  const auto at = line.find("milliseconds");
  if (at == line.end() || !at->is_number()) return std::nullopt;
  const double time = at->get<double>();
  return time >= 0 && time <= kMaxMilliseconds ? std::optional(time) : std::nullopt;
}

std::uint64_t bytes_of(const json &line) {
  const auto at = line.find("bytes");
  return at != line.end() && at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
}

std::vector<std::string> words_of(const json &line, const char *member) {
  std::vector<std::string> names;
  const auto at = line.find(member);
  if (at == line.end() || !at->is_array()) return names;
  for (const json &name : *at) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names;
}

// Returns the process of the line; null if the line does not name one.
ReportProcess *process_of(const json &line, ReportSums *sums) {
  const std::string id = word_of(line, "process");
  if (id.empty()) return nullptr;
  const auto [at, is_new] = sums->process_numbers.try_emplace(id, sums->processes.size());
  if (is_new) sums->processes.emplace_back();
  return &sums->processes[at->second];
}

// Names a program by its first kernels, which users know; else by its name in packs.
std::string label_of(const ReportReason::Example &example) {
  const auto &kernels = example.kernels;
  if (kernels.empty()) return example.program.empty() ? "no name" : example.program;
  return kernels_label(kernels);
}

void add_reason(const WordPair &key, const json &line, ReportSums *sums) {
  const auto [at, is_new] = sums->reason_numbers.try_emplace(key, sums->reasons.size());
  if (is_new) sums->reasons.push_back({key.first, key.second, 0, {}, {}});
  ReportReason &reason = sums->reasons[at->second];
  ++reason.count;
  ReportReason::Example example{word_of(line, "program"), words_of(line, "kernels")};
  const std::string label = label_of(example);
  if (!reason.programs.insert(example.program.empty() ? label : example.program).second) return;
  const bool is_shown =
      std::any_of(reason.examples.begin(), reason.examples.end(),
                  [&](const ReportReason::Example &other) { return label_of(other) == label; });
  if (!is_shown && reason.examples.size() < kMaxExamples) reason.examples.push_back(example);
}

void add_to_row(const json &line, ReportSums::Row *row) {
  ++row->count;
  if (const auto time = time_of(line)) row->times.push_back(*time);
}

// Counts the build under its device's key, if the line has one.
void add_to_key(const std::string &outcome, const json &line, const ReportProcess *process,
                ReportSums *sums) {
  const std::string hash = word_of(line, "key_hash");
  if (hash.empty()) return;
  ReportKey &key = sums->keys[hash];
  ++key.builds;
  if (outcome != kBuilds[0]) ++key.compiled;
  if (process != nullptr) {
    key.processes.insert(static_cast<std::size_t>(process - sums->processes.data()));
  }
  const auto names = words_of(line, "devices");
  if (key.device.empty() && !names.empty()) {
    const std::string driver = word_of(line, "driver");
    key.device = driver.empty() ? names[0] : runtime::device_label(names[0], driver);
  }
}

void add_build(const std::string &outcome, const json &line, ReportSums *sums) {
  add_to_row(line, &sums->rows[{outcome, word_of(line, "rung")}]);
  for (std::string &name : words_of(line, "devices")) sums->devices.insert(std::move(name));
  const std::string reason = word_of(line, "reason");
  if (!reason.empty() || outcome == "passed") add_reason({outcome, reason}, line, sums);
}

void add_start(const json &line, ReportProcess *process) {
  if (process == nullptr || !process->application.empty()) return;
  process->application = word_of(line, "application");
  process->layer = word_of(line, "layer");
}

void add_first_result(const json &line, ReportProcess *process, ReportSums *sums) {
  const auto time = time_of(line);
  if (process == nullptr || process->has_result || !time) return;
  process->has_result = true;
  sums->first_results.emplace_back(process - sums->processes.data(), *time);
}

// Returns a load report as a line of the layer's; any other line as it is.
json as_build(json line) {
  const auto rungs = line.find("rungs");
  if (rungs == line.end() || !rungs->is_array()) return line;
  std::string reason;
  for (const json &tried : *rungs) {
    if (!tried.is_object() || word_of(tried, "reason").empty()) continue;
    if (word_of(tried, "outcome") == "skipped") continue;
    reason +=
        (reason.empty() ? "" : "; ") + word_of(tried, "rung") + ": " + word_of(tried, "reason");
  }
  const std::string rung = word_of(line, "rung");
  const bool is_compiled = runtime::is_compiled(rung);
  line["outcome"] = rung == "error" ? "failed" : is_compiled ? "compiled" : "served";
  if (rung == "error") line["rung"] = "none";
  line["reason"] = is_compiled || rung == "error" ? reason : "";
  line["devices"] = json::array({word_of(line, "device")});
  return line;
}

// Returns whether the line has an outcome that this version knows.
bool add_object(const json &line, ReportSums *sums) {
  const std::string outcome = word_of(line, "outcome");
  const bool is_build = place_of(outcome) < kBuilds.size();
  const bool is_own = outcome == "own_binary", is_start = outcome == "started";
  if (!is_build && !is_own && !is_start && outcome != "first_result") return false;
  ReportProcess *process = process_of(line, sums);
  if (is_build) {
    add_build(outcome, line, sums);
    add_to_key(outcome, line, process, sums);
  } else if (is_own) {
    add_to_row(line, &sums->own_binaries);
    sums->own_bytes += bytes_of(line);
  } else if (is_start) {
    add_start(line, process);
  } else {
    add_first_result(line, process, sums);
  }
  return true;
}

// Processes of one executable under one mode of the layer.
struct ApplicationStarts {
  std::string application;
  std::string layer;
  std::size_t processes = 0;
  Milliseconds first_results{};

  Milliseconds later_results() const {
    return first_results.empty() ? Milliseconds()
                                 : Milliseconds(first_results.begin() + 1, first_results.end());
  }
};

std::vector<ApplicationStarts> starts_of(const ReportSums &sums) {
  std::vector<ApplicationStarts> all;
  std::map<WordPair, std::size_t> numbers;
  std::vector<std::size_t> of_process;
  for (const ReportProcess &process : sums.processes) {
    const auto [at, is_new] = numbers.try_emplace({process.application, process.layer}, all.size());
    if (is_new) all.push_back({process.application, process.layer});
    ++all[at->second].processes;
    of_process.push_back(at->second);
  }
  for (const auto &[process, time] : sums.first_results) {
    all[of_process[process]].first_results.push_back(time);
  }
  return all;
}

std::vector<std::pair<WordPair, ReportSums::Row>> sorted_rows(const ReportSums &sums) {
  std::vector<std::pair<WordPair, ReportSums::Row>> rows(sums.rows.begin(), sums.rows.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
    const std::size_t left = place_of(a.first.first);
    const std::size_t right = place_of(b.first.first);
    return left != right ? left < right : a.second.count > b.second.count;
  });
  return rows;
}

std::vector<ReportReason> sorted_reasons(const ReportSums &sums) {
  std::vector<ReportReason> reasons = sums.reasons;
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const ReportReason &a, const ReportReason &b) { return a.count > b.count; });
  return reasons;
}

double median_of(Milliseconds times) {
  std::sort(times.begin(), times.end());
  const std::size_t middle = times.size() / 2;
  return times.size() % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
}

double largest_of(const Milliseconds &times) {
  return *std::max_element(times.begin(), times.end());
}

double sum_of(const Milliseconds &times) {
  return std::accumulate(times.begin(), times.end(), 0.0);
}

// Returns what `value` makes of the times, or "-" if there are none.
template <typename Value>
std::string time_text(const Milliseconds &times, Value value) {
  if (times.empty()) return "-";
  const double time = value(times);
  return fmt::format("{:.{}f}", time, time < 10 ? 2 : time < 100 ? 1 : 0);
}

std::string amount(std::size_t count, const char *one, const char *many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string first_line(const ReportSums &sums) {
  if (sums.lines == 0)
    return "no report lines: if no process reached Kiln, 'kiln doctor' says why\n";
  const std::string builds = amount(builds_of(sums), "program build", "program builds") + "\n";
  if (sums.processes.empty()) return builds;
  std::set<std::string> names;
  for (const ReportProcess &process : sums.processes) names.insert(process.application);
  const bool some_unknown = names.erase("") != 0;
  std::string text = amount(sums.processes.size(), "process", "processes");
  if (!names.empty()) text += " of " + amount(names.size(), "application", "applications");
  return text + (some_unknown && !names.empty() ? " and of unknown ones, " : ", ") + builds;
}

std::string rows_text(const ReportSums &sums) {
  if (sums.rows.empty()) return "";
  std::string text = "\noutcome\trung\tbuilds\tmedian, ms\tlargest\tsum\n";
  for (const auto &[key, row] : sorted_rows(sums)) {
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", key.first, printable_line(key.second),
                        row.count, time_text(row.times, median_of),
                        time_text(row.times, largest_of), time_text(row.times, sum_of));
  }
  return table_text(text, "<<>>>>");
}

std::string reason_text(const ReportReason &reason) {
  const std::string why = reason.reason.empty() ? "no reason is given" : reason.reason;
  std::string text = fmt::format("{}\t{}: {}\n", reason.count, reason.outcome, printable_line(why));
  const char *before = "\t";
  for (const ReportReason::Example &example : reason.examples) {
    text += before + printable_line(label_of(example));
    before = "; ";
  }
  const std::size_t more = reason.programs.size() - reason.examples.size();
  return text + (more == 0 ? "\n" : fmt::format("; {} more\n", more));
}

std::string reasons_text(const ReportSums &sums) {
  std::string text = sums.reasons.empty() ? "" : "\nreasons\n";
  const auto reasons = sorted_reasons(sums);
  for (std::size_t i = 0; i < std::min(reasons.size(), kMaxReasons); ++i) {
    text += reason_text(reasons[i]);
  }
  text = table_text(text, ">");
  if (reasons.size() <= kMaxReasons) return text;
  const std::size_t more = reasons.size() - kMaxReasons;
  return text + amount(more, "more reason", "more reasons") + ": --json lists all\n";
}

std::string first_results_text(const ReportSums &sums) {
  if (sums.first_results.empty()) return "";
  std::string text = "\nfirst result, ms after a process began\nstarts\tfirst\tlater, median\t\n";
  for (const ApplicationStarts &starts : starts_of(sums)) {
    std::string name = starts.application.empty() ? "an unknown application" : starts.application;
    if (!starts.layer.empty() && starts.layer != "serve") name += " (" + starts.layer + ")";
    text += fmt::format("{}\t{}\t{}\t{}\n", starts.processes,
                        time_text(starts.first_results, [](const auto &all) { return all[0]; }),
                        time_text(starts.later_results(), median_of), printable_line(name));
  }
  return table_text(text, ">>>");
}

json times_json(const Milliseconds &times) {
  if (times.empty()) return nullptr;
  return {{"count", times.size()},
          {"median", median_of(times)},
          {"largest", largest_of(times)},
          {"sum", sum_of(times)}};
}

json reason_json(const ReportReason &reason) {
  json examples = json::array();
  for (const ReportReason::Example &example : reason.examples) {
    examples.push_back({{"program", example.program}, {"kernels", example.kernels}});
  }
  return {{"outcome", reason.outcome},
          {"reason", reason.reason},
          {"count", reason.count},
          {"programs", reason.programs.size()},
          {"examples", std::move(examples)}};
}

json starts_json(const ApplicationStarts &starts) {
  const bool is_known = !starts.first_results.empty();
  return {{"application", starts.application},
          {"layer", starts.layer},
          {"processes", starts.processes},
          {"first_result", is_known ? json(starts.first_results[0]) : json()},
          {"later_results", times_json(starts.later_results())}};
}

Status each_line(std::istream &in, const std::string &name,
                 const std::function<void(std::string_view line, std::size_t number)> &use) {
  std::string line(kLongestLine + 1, '\0');
  errno = 0;
  for (std::size_t number = 1; in.good(); ++number) {
    in.getline(line.data(), static_cast<std::streamsize>(line.size()));
    if (in.bad()) break;
    const std::size_t end = in.good() ? 1 : 0;  // the line end, which is counted
    const std::size_t size = static_cast<std::size_t>(in.gcount()) - end;
    if (in.fail() && !in.eof()) {
      in.clear();
      in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    use({line.data(), size}, number);
  }
  if (!in.bad()) return {};
  return {Code::failed, name + ": " + std::strerror(errno == 0 ? EIO : errno)};
}

Status each_line_of(const std::string &path,
                    const std::function<void(std::string_view line, std::size_t number)> &use) {
  std::ifstream file = open_file(packs::to_path(path));
  if (!file.is_open()) return {Code::failed, path + ": " + packs::open_fault(errno)};
  return each_line(file, path, use);
}

}  // namespace

void add_report_line(std::string_view line, const std::string &file, std::size_t number,
                     ReportSums *sums) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  json value = json::parse(line, nullptr, false);
  if (value.is_object() && add_object(as_build(std::move(value)), sums)) {
    ++sums->lines;
  } else if (sums->other_lines++ == 0) {
    sums->first_other_line = fmt::format("{}:{}", file, number);
  }
}

Status add_report_lines(std::istream &in, const std::string &name, ReportSums *sums) {
  return each_line(in, name, [&](std::string_view line, std::size_t number) {
    add_report_line(line, name, number, sums);
  });
}

namespace {

// Returns whether an overlay or a spool has files of this name, and no folder of reports.
bool holds_programs(const std::string &name) {
  return name == "noted" || (name.starts_with("cl-") && name.ends_with(".kiln"));
}

// Adds the files in the order of their names: the oldest first.
Status add_report_folder(const std::string &path, ReportSums *sums) {
  std::vector<std::string> files;
  bool has_programs = false;
  std::error_code error;
  for (const auto &entry : std::filesystem::directory_iterator(packs::to_path(path), error)) {
    if (entry.path().extension() == ".jsonl") files.push_back(packs::from_path(entry.path()));
    has_programs = has_programs || holds_programs(packs::from_path(entry.path().filename()));
  }
  if (error) return {Code::failed, path + ": " + error.message()};
  if (files.empty() && has_programs) {
    return {Code::failed, path +
                              ": this folder holds programs, not reports; 'kiln serve --report "
                              "FILE' and 'kiln record --report FILE' write a report"};
  }
  std::sort(files.begin(), files.end());
  for (const std::string &file : files) {
    if (Status s = add_report(file, sums); !s.ok()) return s;
  }
  return {};
}

}  // namespace

Status add_report(const std::string &path, ReportSums *sums) {
  if (path == "-") {
    std::ios::sync_with_stdio(false);  // else each byte is read by a call
    return add_report_lines(std::cin, "standard input", sums);
  }
  std::error_code error;
  if (std::filesystem::is_directory(packs::to_path(path), error))
    return add_report_folder(path, sums);
  return each_line_of(path, [&](std::string_view line, std::size_t number) {
    add_report_line(line, path, number, sums);
  });
}

Status add_last_start(const std::string &path, ReportSums *sums) {
  std::string last;
  const auto process = [](std::string_view line, bool only_builds) {
    const json value = json::parse(line, nullptr, false);
    if (!value.is_object()) return std::string();
    const bool is_build = place_of(word_of(value, "outcome")) < kBuilds.size();
    return is_build || !only_builds ? word_of(value, "process") : std::string();
  };
  Status status = each_line_of(path, [&](std::string_view line, std::size_t) {
    if (const std::string id = process(line, true); !id.empty()) last = id;
  });
  if (!status.ok() || last.empty()) return status;
  return each_line_of(path, [&](std::string_view line, std::size_t number) {
    if (process(line, false) == last) add_report_line(line, path, number, sums);
  });
}

double build_milliseconds(const ReportSums &sums) {
  return std::accumulate(sums.rows.begin(), sums.rows.end(), 0.0, [](double time, const auto &row) {
    return time + sum_of(row.second.times);
  });
}

std::size_t builds_of(const ReportSums &sums) {
  return std::accumulate(sums.rows.begin(), sums.rows.end(), std::size_t{0},
                         [](std::size_t n, const auto &row) { return n + row.second.count; });
}

std::string report_builds_text(const ReportSums &sums) {
  return rows_text(sums) + reasons_text(sums);
}

std::string report_sums_text(const ReportSums &sums) {
  std::string text = first_line(sums) + report_builds_text(sums);
  if (sums.own_binaries.count > 0) {
    text += fmt::format("\nwithout Kiln: applications loaded {} ({}) from caches of their own\n",
                        amount(sums.own_binaries.count, "binary", "binaries"),
                        amount(sums.own_bytes, "byte", "bytes"));
  }
  text += first_results_text(sums);
  if (sums.other_lines == 0) return text;
  return text + fmt::format(
                    "\n{}, the first in {}\n",
                    amount(sums.other_lines, "line is no report line", "lines are no report lines"),
                    printable_line(sums.first_other_line));
}

json report_sums_json(const ReportSums &sums) {
  json outcomes = json::array(), reasons = json::array(), applications = json::array();
  json keys = json::array();
  for (const auto &[key, row] : sorted_rows(sums)) {
    outcomes.push_back({{"outcome", key.first},
                        {"rung", key.second},
                        {"count", row.count},
                        {"milliseconds", times_json(row.times)}});
  }
  for (const ReportReason &reason : sorted_reasons(sums)) reasons.push_back(reason_json(reason));
  for (const ApplicationStarts &starts : starts_of(sums))
    applications.push_back(starts_json(starts));
  for (const auto &[hash, key] : sums.keys) {
    keys.push_back({{"key_hash", hash},
                    {"device", key.device},
                    {"processes", key.processes.size()},
                    {"builds", key.builds},
                    {"compiled", key.compiled}});
  }
  return {{"schema", 1},
          {"lines", sums.lines},
          {"other_lines", sums.other_lines},
          {"first_other_line", sums.other_lines > 0 ? json(sums.first_other_line) : json()},
          {"processes", sums.processes.size()},
          {"builds", builds_of(sums)},
          {"devices", sums.devices},
          {"keys", keys},
          {"outcomes", outcomes},
          {"reasons", reasons},
          {"own_binaries",
           {{"count", sums.own_binaries.count},
            {"bytes", sums.own_bytes},
            {"milliseconds", times_json(sums.own_binaries.times)}}},
          {"applications", applications}};
}

}  // namespace kiln::builder

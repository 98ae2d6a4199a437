// SPDX-License-Identifier: Apache-2.0
// Sums the reports of the OpenCL layer, of the Python module and of the runtime's loads: what was
// loaded, how long it took, and why the rest was compiled.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

using Milliseconds = std::vector<double>;  // known durations, in the order of the lines
using WordPair = std::pair<std::string, std::string>;

// Builds with one outcome and one reason.
struct ReportReason {
  struct Example {
    std::string program;  // empty: it has no name
    std::vector<std::string> kernels;
  };

  std::string outcome;
  std::string reason;
  std::size_t count = 0;
  std::set<std::string> programs;
  std::vector<Example> examples;  // the first few that differ in their kernels
};

struct ReportProcess {
  std::string application;  // the executable; empty: unknown
  std::string layer;        // "serve", "record"; empty: unknown
  bool has_result = false;
};

// A kind of device, by the hash of its binary key.
struct ReportKey {
  std::string device;               // "name (driver version)"; empty: unknown
  std::set<std::size_t> processes;  // in ReportSums::processes
  std::size_t builds = 0;
  std::size_t compiled = 0;  // of the builds: not loaded from a binary
};

struct ReportSums {
  struct Row {
    std::size_t count = 0;
    Milliseconds times;
  };

  std::size_t lines = 0;
  std::size_t other_lines = 0;   // lines that are no report lines
  std::string first_other_line;  // "FILE:17"
  std::vector<ReportProcess> processes;
  std::map<std::string, std::size_t> process_numbers;  // in `processes`, by what identifies them
  std::map<WordPair, Row> rows;                        // builds, by outcome and rung
  std::vector<ReportReason> reasons;
  std::map<WordPair, std::size_t> reason_numbers;  // in `reasons`, by outcome and reason
  std::set<std::string> devices;                   // names of the programs' devices
  std::map<std::string, ReportKey> keys;           // by key_hash
  Row own_binaries;
  std::uint64_t own_bytes = 0;
  std::vector<std::pair<std::size_t, double>> first_results;  // a process and milliseconds
};

// Adds the next line of a report: a line of the layer's (docs/use/layer.md, "The report"), or a
// load report (docs/use/loading.md). The text is untrusted: a member that is absent, of another
// type or out of range counts as unknown; a line of blanks is ignored. The memory for `sums` grows
// with the number of durations and of different processes, programs and reasons.
void add_report_line(std::string_view line, const std::string &file, std::size_t number,
                     ReportSums *sums);

// Adds the lines of a file, or of the *.jsonl files in a folder; "-" is standard input. Fails with
// Code::failed if the file cannot be read.
Status add_report(const std::string &path, ReportSums *sums);
// The same for lines that are read already; `name` is for the place of the first other line.
Status add_report_lines(std::istream &in, const std::string &name, ReportSums *sums);

// Adds the lines of the last process in the file that built a program; nothing if none did, or if
// the lines name no process. Reads the file twice. Fails as add_report() does.
Status add_last_start(const std::string &path, ReportSums *sums);

// Returns the total duration of the builds, in milliseconds.
double build_milliseconds(const ReportSums &sums);
// Returns the number of builds.
std::size_t builds_of(const ReportSums &sums);

// Returns the outcomes of the builds with their durations, and the reasons, for people.
std::string report_builds_text(const ReportSums &sums);
// Returns the sums for people, names and reasons as from printable_line().
std::string report_sums_text(const ReportSums &sums);
// Returns the sums with all reasons, schema 1.
nlohmann::json report_sums_json(const ReportSums &sums);

}  // namespace kiln::builder

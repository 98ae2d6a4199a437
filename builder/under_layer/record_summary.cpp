// SPDX-License-Identifier: Apache-2.0
// Counts the lines of a report by what they mean for a recording.
#include "builder/under_layer/record_summary.hpp"

#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "builder/under_layer/icd_loader.hpp"

namespace kiln::builder {
namespace {

// Below the home folder; docs/use/layer.md names them.
constexpr const char *kOwnCaches[] = {".cache/hashcat",   ".local/share/hashcat/kernels",
                                      ".hashcat/kernels", ".cache/pyopencl",
                                      ".cache/opencv",    ".cache/darktable",
                                      ".arrayfire",       ".cache/boost_compute",
                                      ".boost_compute"};

constexpr std::string_view kNotRecorded = "it is not recorded: ";

std::string word(const nlohmann::json &line, const char *name) {
  return line.contains(name) && line[name].is_string() ? line[name].get<std::string>()
                                                       : std::string();
}

struct Counts {
  bool reached = false;
  std::size_t own_binaries = 0;
  std::set<std::string> recorded;
  std::set<std::string> failed;
  std::map<std::string, std::size_t> reasons;  // why programs were not recorded
};

Counts counts_of(const std::string &report) {
  Counts counts;
  std::istringstream lines(report);
  for (std::string text; std::getline(lines, text);) {
    const auto line = nlohmann::json::parse(text, nullptr, false);
    if (!line.is_object()) continue;
    const std::string outcome = word(line, "outcome");
    const std::string reason = word(line, "reason");
    counts.reached = true;
    if (outcome == "own_binary") ++counts.own_binaries;
    // "needless" is a program that there is nothing to record of.
    const std::string recorded = word(line, "recorded");
    if (outcome != "passed" || recorded == "needless") continue;
    if (recorded == "yes") {
      counts.recorded.insert(word(line, "program"));
    } else if (counts.failed.insert(word(line, "program")).second) {
      ++counts.reasons[reason.starts_with(kNotRecorded) ? reason.substr(kNotRecorded.size())
                                                        : reason];
    }
  }
  return counts;
}

std::string counted(std::size_t count) {
  return fmt::format("{} program{}", count, count == 1 ? "" : "s");
}

// Names the most frequent reasons.
std::string reasons_text(const Counts &counts) {
  constexpr std::size_t kReasonsShown = 2;
  std::multimap<std::size_t, std::string, std::greater<>> sorted;
  for (const auto &[reason, count] : counts.reasons) sorted.emplace(count, reason);
  std::string text = counted(counts.failed.size()) + " cannot be recorded: ";
  std::size_t named = 0;
  for (const auto &[count, reason] : sorted) {
    if (named++ == kReasonsShown) return text + ", and more: --report FILE lists all";
    text += fmt::format("{}{} ({})", named == 1 ? "" : ", ", reason, count);
  }
  return text;
}

}  // namespace

std::vector<std::string> own_cache_folders(const std::filesystem::path &home) {
  std::vector<std::string> folders;
  for (const char *name : kOwnCaches) {
    std::error_code error;
    if (std::filesystem::is_directory(home / name, error))
      folders.push_back((home / name).string());
  }
  return folders;
}

std::string recording_text(const std::string &report, const std::string &spool,
                           const std::vector<std::string> &folders) {
  const Counts counts = counts_of(report);
  if (!counts.reached) {
    return std::string("nothing was recorded: the application did not reach Kiln's layer: ") +
           kPastTheLayer + "; see 'kiln doctor'";
  }
  std::string text = counted(counts.recorded.size()) + " recorded";
  if (!spool.empty()) text += " in " + spool;
  if (counts.own_binaries != 0) {
    text += fmt::format(
        "; {} loaded from the application's own binaries, not recorded: empty or switch off its "
        "cache",
        counted(counts.own_binaries));
    for (std::size_t i = 0; i < folders.size(); ++i) text += (i == 0 ? " (" : ", ") + folders[i];
    text += std::string(folders.empty() ? "" : ")") +
            ", or its overlay if it loads by Kiln, and record again";
  }
  if (!counts.failed.empty()) text += "; " + reasons_text(counts);
  return text;
}

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Reads the lists of children and of mapped files in /proc.
#include "builder/under_layer/past_layer.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "builder/base/whole_file.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLong{500};

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Returns the name up to its ".so".
std::string_view stem(std::string_view name) { return name.substr(0, name.find(".so")); }

std::string executable_of(const std::string &process) {
  std::error_code error;
  return fs::read_symlink("/proc/" + process + "/exe", error).string();
}

}  // namespace

MappedDriver mapped_driver(std::string_view maps, std::string_view layer,
                           const std::vector<std::string> &drivers) {
  MappedDriver mapped;
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    const std::size_t path = line.find('/');
    if (path == std::string_view::npos) continue;
    const std::string_view name = file_name(line.substr(path));
    if (name.starts_with(file_name(layer))) mapped.has_layer = true;
    for (const std::string &driver : drivers) {
      const bool is_library = name.find(".so") != std::string_view::npos;
      if (is_library && stem(name) == stem(file_name(driver))) mapped.driver = name;
    }
  }
  return mapped;
}

PastLayer::PastLayer(const std::string &layer, std::vector<std::string> drivers)
    : layer_(layer), drivers_(std::move(drivers)), own_(executable_of("self")) {}

void PastLayer::look() { look_below(getpid()); }

void PastLayer::look_below(pid_t process) {
  const std::string tasks = fmt::format("/proc/{}/task", process);
  std::error_code error;
  for (fs::directory_iterator task(tasks, error), end; !error && task != end;
       task.increment(error)) {
    std::ifstream children(task->path() / "children");
    for (pid_t child = 0; children >> child;) {
      const std::string number = std::to_string(child);
      if (executable_of(number) == own_) continue;
      look_below(child);
      const auto mapped = mapped_driver(read_whole_file("/proc/" + number + "/maps").value_or(""),
                                        layer_, drivers_);
      if (!mapped.has_layer && mapped.driver.empty()) continue;
      Seen &seen = seen_[child];
      seen.has_layer = seen.has_layer || mapped.has_layer;
      seen.last = Clock::now();
      if (!seen.text.empty()) continue;
      seen.first = seen.last;
      std::string name = read_whole_file("/proc/" + number + "/comm").value_or("");
      while (name.ends_with('\n')) name.pop_back();
      seen.text = fmt::format("{} (process {}) uses {}", name, number, mapped.driver);
    }
  }
}

std::string PastLayer::found() const {
  for (const auto &[process, seen] : seen_) {
    if (!seen.has_layer && seen.last - seen.first >= kLong) return seen.text;
  }
  return "";
}

}  // namespace kiln::builder

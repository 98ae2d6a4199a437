// SPDX-License-Identifier: Apache-2.0
// Reads /proc.
#include "builder/process/children.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace kiln::builder {
namespace {

// A page that N processes have counts as its N-th part.
std::uint64_t proportional_bytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("Pss:")) return std::strtoull(line.c_str() + 4, nullptr, 10) * 1024;
  }
  return resident_bytes(pid);
}

std::vector<pid_t> with_descendants(pid_t pid) {
  std::vector<pid_t> all = {pid};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const pid_t child : children_of(all[i])) all.push_back(child);
  }
  return all;
}

}  // namespace

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code error;
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  for (std::filesystem::directory_iterator task(tasks, error), end; !error && task != end;
       task.increment(error)) {
    std::ifstream file(task->path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

std::uint64_t resident_bytes(pid_t pid) {
  std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
  std::uint64_t pages = 0;
  statm >> pages >> pages;
  return statm ? pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

bool holds_more(pid_t pid, std::uint64_t bytes) {
  const std::vector<pid_t> all = with_descendants(pid);
  std::uint64_t sum = 0;
  for (const pid_t one : all) sum += resident_bytes(one);
  if (sum <= bytes || all.size() == 1) return sum > bytes;
  // What a forked process shares with its parent was counted for each. Asked only now: the kernel
  // walks all of a process's pages for it.
  sum = 0;
  for (const pid_t one : all) sum += proportional_bytes(one);
  return sum > bytes;
}

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Asks the system. Only Linux tells the folder of the executable.
#include "builder/base/this_process.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#endif

namespace kiln::builder {

std::size_t usable_cpus() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return static_cast<std::size_t>(std::max(CPU_COUNT(&set), 1));
  }
#endif
  return std::max(std::thread::hardware_concurrency(), 1U);
}

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value != nullptr ? value : "";
}

void allow_many_files() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &files);
}

std::uint64_t resident_bytes(pid_t pid) {
  std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
  std::uint64_t pages = 0;
  statm >> pages >> pages;
  return statm ? pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

std::size_t terminal_columns(int output) {
  constexpr std::size_t kUsualColumns = 80;
  winsize size{};
  return ioctl(output, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

std::filesystem::path executable_folder() {
  std::error_code error;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
  const bool is_loader = executable.filename().string().starts_with("ld-linux");
  return (is_loader ? std::filesystem::path(program_invocation_name) : executable).parent_path();
}

}  // namespace kiln::builder

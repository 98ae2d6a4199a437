// SPDX-License-Identifier: Apache-2.0
// Finds Mesa's threads in proc(5).
#include "builder/device/mesa_threads.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

// A thread of this process, as proc(5) shows it.
struct Thread {
  std::string name;
  char state = '?';
};

Thread read_thread(const fs::path &task) {
  std::string stat;
  std::getline(std::ifstream(task / "stat"), stat);
  const std::size_t begin = stat.find('(');
  const std::size_t end = stat.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end + 2 >= stat.size()) return {};
  return {stat.substr(begin + 1, end - begin - 1), stat[end + 2]};
}

// Returns whether all of Mesa's disk threads sleep. A thread that has not run yet has its creator's
// name, maybe this thread's name, and may turn out to be a disk thread.
bool disk_threads_sleep() {
  std::error_code ignored;
  const fs::path self = "/proc/thread-self";
  const std::string own_name = read_thread(self).name;
  const fs::path own = fs::read_symlink(self, ignored).filename();
  for (const auto &task : fs::directory_iterator("/proc/self/task", ignored)) {
    if (task.path().filename() == own) continue;
    const Thread thread = read_thread(task.path());
    const bool concerns = thread.name.find("disk$") != std::string::npos || thread.name == own_name;
    if (concerns && thread.state != 'S') return false;
  }
  return true;
}

}  // namespace

void await_mesa() {
  constexpr int kCalm = 3;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (int calm = 0; calm < kCalm && std::chrono::steady_clock::now() < end;) {
    calm = disk_threads_sleep() ? calm + 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace kiln::builder

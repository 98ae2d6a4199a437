// SPDX-License-Identifier: Apache-2.0
// Sets the variables that tell drivers where their caches are, and finds Mesa's threads in proc(5).
#include "builder/machine/driver_caches.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/provision/mesa_provision.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

std::string caches_of_opening;  // set by begin_caches_with()

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

bool keep_listed_caches() {
  const char *const listed = std::getenv(kListedCaches);
  if (listed != nullptr) runtime::point_mesa_at(listed);
  return listed != nullptr;
}

void begin_caches_with(const std::string &opened) { caches_of_opening = opened; }

void use_driver_caches(const std::string &folder) {
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  const auto begin_with = [&](const fs::path &caches) {
    using Copy = fs::copy_options;
    fs::copy(caches, folder, Copy::recursive | Copy::skip_existing, ignored);
  };
  if (const char *const listed = std::getenv(kListedCaches); listed != nullptr) begin_with(listed);
  if (!caches_of_opening.empty()) {
    for (const auto &opened : fs::directory_iterator(caches_of_opening, ignored)) {
      begin_with(opened.path());
    }
  }
  setenv("POCL_CACHE_DIR", folder.c_str(), 1);
  runtime::point_mesa_at(folder.c_str());
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  setenv("NEO_CACHE_PERSISTENT", "0", 1);
}

void await_mesa() {
  constexpr int kCalm = 3;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (int calm = 0; calm < kCalm && std::chrono::steady_clock::now() < end;) {
    calm = disk_threads_sleep() ? calm + 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace kiln::builder

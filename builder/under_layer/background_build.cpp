// SPDX-License-Identifier: Apache-2.0
// Looks at the times of the notes, and starts the command.
#include "builder/under_layer/background_build.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <system_error>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builder/base/this_process.hpp"
#include "builder/process/foreground.hpp"
#include "builder/under_layer/overlay_build.hpp"
#include "runtime/cached/cached_files.hpp"
#include "runtime/overlay/shared_folder.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

// Returns the time of the newest note; the earliest time there is if nothing is noted.
fs::file_time_type newest_note(const std::string &noted) {
  fs::file_time_type newest = fs::file_time_type::min();
  std::error_code error;
  // Files beside the drivers' folders are the builder's own.
  for (fs::directory_iterator i(noted, error), end; !error && i != end; i.increment(error)) {
    std::error_code ignored;
    if (!i->is_directory(ignored)) continue;
    for (fs::directory_iterator j(i->path(), ignored), last; !ignored && j != last;
         j.increment(ignored)) {
      std::error_code gone;
      const fs::file_time_type time = j->last_write_time(gone);
      const fs::path kind = j->path().extension();
      const bool is_note = kind == cached::kPackSuffix || kind == cached::kLaunchesSuffix;
      if (!gone && is_note) newest = std::max(newest, time);
    }
  }
  return newest;
}

// In the new process.
[[noreturn]] void execute(const std::vector<std::string> &words) {
  setsid();
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) dup2(null, fd);
  if (null > STDERR_FILENO) close(null);
  restore_signals();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  unsetenv("OPENCL_LAYERS");  // kiln builds bare
  std::vector<char *> arguments;
  for (const std::string &word : words) arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

BackgroundBuild::BackgroundBuild(const std::string &folder, bool is_shared)
    : words_{(executable_folder() / "kiln").string(),
             "overlay",
             "build",
             folder,
             "--background",
             "-j1"},
      seen_(fs::file_time_type::min()) {
  std::string own = folder;
  if (is_shared) {
    words_.emplace_back("--shared");
    (void)runtime::own_overlay(folder.c_str(), &own);  // the layer says if it fails
  }
  noted_ = noted_folder(own);
  cut_off_ = count_cut_off(own);
}

void BackgroundBuild::look() {
  const fs::file_time_type newest = newest_note(noted_);
  if (newest <= seen_) return;
  const pid_t child = fork();
  if (child == 0) execute(words_);
  if (child < 0) return;  // the next look tries again
  seen_ = newest;
  children_.push_back(child);
}

void BackgroundBuild::finish(std::chrono::seconds patience) {
  if (getpid() != 1 && cut_off_ == 0) return;
  const Clock::time_point end = Clock::now() + patience;
  sigset_t awaited, before;
  sigemptyset(&awaited);
  for (const int signal : {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM}) sigaddset(&awaited, signal);
  sigprocmask(SIG_BLOCK, &awaited, &before);
  int signal = SIGCHLD;
  while (signal == SIGCHLD) {
    std::erase_if(children_, [](pid_t child) { return waitpid(child, nullptr, WNOHANG) != 0; });
    const auto left = std::chrono::ceil<std::chrono::seconds>(end - Clock::now());
    if (children_.empty() || left.count() <= 0) break;
    const timespec pause{left.count(), 0};
    signal = sigtimedwait(&awaited, nullptr, &pause);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Work as a user whom permissions hold back, whoever runs the tests.
#pragma once

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace kiln::test {

inline constexpr uid_t kNobody = 65534;

// What `work` returns, a text. Root runs it in a child as nobody, where checks of Catch2 would
// not be counted: return what is to be compared. An exception in the child is one here.
template <typename Work>
std::string as_plain_user(const Work &work) {
  if (geteuid() != 0) return work();
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    close(ends[0]);
    if (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(3);
    try {
      const std::string answer = work();
      const auto size = static_cast<ssize_t>(answer.size());
      _exit(write(ends[1], answer.data(), answer.size()) == size ? 0 : 4);
    } catch (...) {
      _exit(5);
    }
  }
  close(ends[1]);
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw std::runtime_error("the plain user's process ended with " + std::to_string(status));
  }
  return answer;
}

}  // namespace kiln::test

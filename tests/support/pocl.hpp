// SPDX-License-Identifier: Apache-2.0
// Whether PoCL is here, the real driver behind the scripted one's computing devices.
#pragma once

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

namespace kiln::test {

// Tried in a child, so that this process has loaded no driver.
inline bool have_pocl() {
  static const bool have = [] {
    const pid_t child = fork();
    if (child == 0) _exit(dlopen("libpocl.so.2", RTLD_NOW) != nullptr ? 0 : 1);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
  }();
  return have;
}

}  // namespace kiln::test

#define KILN_NEEDS_POCL() \
  if (!::kiln::test::have_pocl()) KILN_SKIP("no libpocl.so.2 here")

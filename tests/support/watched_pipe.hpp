// SPDX-License-Identifier: Apache-2.0
// A pipe with a name, and whether anybody has opened it.
#pragma once

#include <string>

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

namespace kiln::test {

class WatchedPipe {
 public:
  explicit WatchedPipe(const std::string &path) : events_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    REQUIRE(inotify_add_watch(events_, path.c_str(), IN_OPEN) >= 0);
  }
  WatchedPipe(const WatchedPipe &) = delete;
  WatchedPipe &operator=(const WatchedPipe &) = delete;
  ~WatchedPipe() { close(events_); }

  bool was_opened() const {
    alignas(inotify_event) char event[sizeof(inotify_event)];
    return read(events_, event, sizeof(event)) > 0;
  }

 private:
  int events_;
};

}  // namespace kiln::test

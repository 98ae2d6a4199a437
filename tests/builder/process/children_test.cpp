// SPDX-License-Identifier: Apache-2.0

#include <csignal>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builder/base/this_process.hpp"
#include "builder/process/child_process.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::builder;

#ifdef __linux__
namespace {

constexpr std::size_t kMegabyte = 1'000'000;
constexpr std::size_t kHeld = 64 * kMegabyte;

// A process that holds memory, with three below it that do nothing, or hold as much of their own.
class Family {
 public:
  explicit Family(bool each_its_own) {
    Pipe ready;
    REQUIRE(ready.open() == 0);
    pid_ = fork();
    if (pid_ == 0) {
      std::vector<char> held(kHeld, 'x');
      for (int i = 0; i < 3; ++i) {
        if (fork_child([&] {
              if (each_its_own) held.assign(kHeld, 'y');
              return tell_and_wait(ready);
            }) < 0) {
          _exit(1);
        }
      }
      _exit(tell_and_wait(ready));
    }
    ready.write.close();
    for (int i = 0; i < 4; ++i) {
      char byte = 0;
      REQUIRE(read(ready.read.get(), &byte, 1) == 1);
    }
  }
  Family(const Family &) = delete;
  ~Family() {
    kill(pid_, SIGKILL);  // its children end with it
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }

 private:
  static int tell_and_wait(const Pipe &ready) {
    if (write(ready.write.get(), "x", 1) != 1) return 1;
    for (;;) pause();
  }

  pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("the memory of a process is that of its children, too") {
  if (kiln::test::kSanitized) KILN_SKIP("the sanitizer holds memory of its own");
  const Family family(true);
  CHECK(children_of(family.pid()).size() == 3);
  CHECK(resident_bytes(family.pid()) > kHeld);
  CHECK(resident_bytes(family.pid()) < 2 * kHeld);
  CHECK(holds_more(family.pid(), 3 * kHeld));
  CHECK_FALSE(holds_more(family.pid(), 5 * kHeld));
}

TEST_CASE("memory that forked processes have in common counts once") {
  if (kiln::test::kSanitized) KILN_SKIP("the sanitizer holds memory of its own");
  const Family family(false);
  CHECK(children_of(family.pid()).size() == 3);
  CHECK(holds_more(family.pid(), kHeld / 2));
  CHECK_FALSE(holds_more(family.pid(), 2 * kHeld));
}

TEST_CASE("a process that is not there has no children and no memory") {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  CHECK(children_of(child).empty());
  CHECK(resident_bytes(child) == 0);
  CHECK_FALSE(holds_more(child, 0));
}
#endif

// SPDX-License-Identifier: Apache-2.0
#include "builder/process/serving_child.hpp"
#include "builder/process/child_process.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/catch.hpp"

using namespace kiln::builder;
using nlohmann::json;
using std::chrono::milliseconds;

namespace {

constexpr CallLimits kLong{milliseconds(20'000)};

// Counts its orders, and does what they say.
json obey(const json &order, int *count) {
  ++*count;
  if (order == "die") std::raise(SIGKILL);
  if (order == "leave") _exit(3);
  if (order == "throw") throw std::runtime_error("broken");
  if (order == "hang") {
    for (;;) pause();
  }
  if (order == "leave a helper that prints") {
    Pipe printed;
    if (printed.open() != 0) _exit(1);
    if (fork() == 0) {  // as a driver may: with all that is open
      for (bool first = true;; first = false) {
        std::puts("still here");
        std::fflush(stdout);
        if (first && write(printed.write.get(), "y", 1) != 1) _exit(1);
      }
    }
    char byte = 0;
    if (read(printed.read.get(), &byte, 1) != 1) _exit(1);
    _exit(3);
  }
  if (order.is_array()) {  // a helper process takes the memory
    const pid_t helper = fork_child([&] {
      const std::vector<char> held(order[0].get<std::size_t>(), 'x');
      for (;;) pause();
      return static_cast<int>(held.size());
    });
    waitpid(helper, nullptr, 0);
  }
  if (order.is_number()) {
    static std::vector<char> held;
    held.assign(order.get<std::size_t>(), 'x');
    for (;;) pause();
  }
  return {{"pid", getpid()}, {"count", *count}, {"order", order}};
}

ServingChild::Work counting() {
  return [count = 0](const json &order) mutable { return obey(order, &count); };
}

}  // namespace

TEST_CASE("a serving child answers one order after another in one process") {
  ServingChild child(counting());
  CHECK(child.answers() == 0);
  const ChildResult first = child.call("a", kLong);
  REQUIRE(first.ok());
  CHECK(first.answer["pid"] != getpid());
  CHECK(first.answer["order"] == "a");
  const json large(std::string(std::size_t{4} << 20, 'y'));
  const ChildResult second = child.call(large, kLong);
  REQUIRE(second.ok());
  CHECK(second.answer["pid"] == first.answer["pid"]);
  CHECK(second.answer["count"] == 2);
  CHECK(second.answer["order"] == large);
  CHECK(child.answers() == 2);
  CHECK(child.resident() > 0);
}

TEST_CASE("after a death of a serving child the next order goes to a new process") {
  ServingChild child(counting());
  const json before = child.call("a", kLong).answer;
  for (const char *const end : {"die", "leave", "throw"}) {
    const ChildResult dead = child.call(end, kLong);
    CHECK_FALSE(dead.ok());
    CHECK(dead.end == (std::string(end) == "die" ? ProcessEnd::signalled : ProcessEnd::exited));
    CHECK(child.answers() == 0);
    const ChildResult next = child.call("b", kLong);
    REQUIRE(next.ok());
    CHECK(next.answer["count"] == 1);
    CHECK(next.answer["pid"] != before["pid"]);
  }
}

TEST_CASE("a serving child that died between two orders fails the next one alone") {
  ServingChild child(counting());
  const pid_t pid = child.call("a", kLong).answer["pid"];
  REQUIRE(kill(pid, SIGKILL) == 0);
  CHECK_FALSE(child.call("b", kLong).ok());
  CHECK(child.call("c", kLong).ok());
}

TEST_CASE("a serving child's death is seen while a helper process of it goes on printing") {
  ServingChild child(counting());
  const ChildResult left = child.call("leave a helper that prints", kLong);
  CHECK(left.end == ProcessEnd::exited);
  CHECK(left.code == 3);
  CHECK(left.output.find("still here") != std::string::npos);
}

TEST_CASE("a serving child's time is each order's own") {
  ServingChild child(counting());
  REQUIRE(child.call("a", kLong).ok());
  const ChildResult late = child.call("hang", {milliseconds(100)});
  CHECK(late.end == ProcessEnd::timed_out);
  CHECK(child.call("b", kLong).answer["count"] == 1);
}

#ifdef __linux__
TEST_CASE("a serving child whose helper process takes more memory than it may is ended and named") {
  ServingChild child(counting());
  const ChildResult greedy =
      child.call(json::array({256 << 20}), {milliseconds(20'000), 128 << 20});
  CHECK(greedy.end == ProcessEnd::over_memory);
}

TEST_CASE("a serving child that takes more memory than it may is ended and named") {
  ServingChild child(counting());
  const CallLimits limits{milliseconds(20'000), std::uint64_t{200} << 20};
  REQUIRE(child.call("a", limits).ok());
  const ChildResult greedy = child.call(std::size_t{500} << 20, limits);
  CHECK(greedy.end == ProcessEnd::over_memory);
  CHECK(greedy.status().message == "took more memory than it may and was killed");
  CHECK(child.call("b", limits).ok());
}
#endif

// SPDX-License-Identifier: Apache-2.0
#include "builder/process/worker_pool.hpp"

#include <csignal>
#include <map>
#include <set>

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builder/process/child_process.hpp"
#include "builder/process/fork_call.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::builder;
using nlohmann::json;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kLong{20'000};
using Answers = std::map<std::size_t, std::optional<json>>;

json hang() {
  for (;;) pause();
}

// A pipe by which a test and its pieces wait for each other.
class Channel {
 public:
  Channel() { REQUIRE(pipe_.open() == 0); }
  void put() const {
    if (write(pipe_.write.get(), "x", 1) != 1) _exit(2);
  }
  // Whether a byte came; false at the end, once no process has the writing end any more.
  bool get() const {
    char byte = 0;
    pollfd fd{pipe_.read.get(), POLLIN, 0};
    REQUIRE(poll(&fd, 1, static_cast<int>(kLong.count())) == 1);
    return read(pipe_.read.get(), &byte, 1) == 1;
  }
  void close_writer() { pipe_.write.close(); }

 private:
  Pipe pipe_;
};

Answers wait_for_all(WorkerPool *pool) {
  Answers answers;
  while (pool->has_busy()) {
    WorkerPool::Done done = pool->wait();
    CHECK(answers.count(done.piece) == 0);
    answers[done.piece] = std::move(done.answer);
  }
  return answers;
}

}  // namespace

TEST_CASE("of several pieces of work the one that is done first is reported first") {
  const Channel go;
  WorkerPool pool(2, [&](std::size_t piece) {
    if (piece == 7) go.get();
    return json(piece);
  });
  pool.start(7);
  pool.start(8);
  CHECK_FALSE(pool.has_idle());
  CHECK(pool.wait().piece == 8);
  go.put();
  const auto second = pool.wait();
  CHECK(second.piece == 7);
  CHECK(second.answer == json(7));
  CHECK_FALSE(pool.has_busy());
}

TEST_CASE("a few workers do many pieces, and each answer comes back whole under its number") {
  const auto text_of = [](std::size_t piece) {
    return std::string(piece << 17, static_cast<char>('a' + piece));
  };
  WorkerPool pool(3, [&](std::size_t piece) { return json(text_of(piece)); });
  Answers answers;
  for (std::size_t piece = 0; piece < 20; ++piece) {
    if (!pool.has_idle()) {
      WorkerPool::Done done = pool.wait();
      answers[done.piece] = std::move(done.answer);
    }
    pool.start(piece);
  }
  answers.merge(wait_for_all(&pool));
  REQUIRE(answers.size() == 20);
  for (const auto &[piece, answer] : answers) {
    REQUIRE(answer);
    CHECK((answer->get<std::string>() == text_of(piece)));
  }
}

TEST_CASE("a piece that dies has no answer, and touches neither those beside it nor the next") {
  const Channel go;
  WorkerPool pool(4, [&](std::size_t piece) -> json {
    if (piece == 1) std::raise(SIGKILL);
    if (piece == 2) _exit(0);
    if (piece == 3) throw std::runtime_error("broken");
    go.get();
    return "well";
  });
  for (std::size_t piece = 0; piece < 4; ++piece) pool.start(piece);
  std::set<std::size_t> died;
  for (int i = 0; i < 3; ++i) {
    const auto done = pool.wait();
    CHECK_FALSE(done.answer);
    died.insert(done.piece);
  }
  CHECK(died == std::set<std::size_t>{1, 2, 3});
  for (std::size_t piece = 4; piece < 7; ++piece) pool.start(piece);
  for (int i = 0; i < 4; ++i) go.put();
  for (const auto &[piece, answer] : wait_for_all(&pool)) CHECK(answer == json("well"));
}

TEST_CASE("a worker that dies fails its piece alone, and gets no other") {
  WorkerPool pool(2, [](std::size_t piece) {
    if (piece == 0) kill(getppid(), SIGKILL);
    return piece == 0 ? hang() : json("well");
  });
  pool.start(0);
  CHECK_FALSE(pool.wait().answer);
  pool.start(1);
  CHECK_FALSE(pool.has_idle());
  CHECK(pool.wait().answer == json("well"));
}

TEST_CASE("a driver that hangs is ended in its own time while others work on") {
  const Channel go;
  WorkerPool pool(2, [&](std::size_t piece) -> json {
    if (piece == 1) return fork_call(hang, milliseconds(100)).reason();
    go.get();
    return "well";
  });
  pool.start(0);
  pool.start(1);
  const auto hung = pool.wait();
  CHECK(hung.piece == 1);
  CHECK(hung.answer == json("gave no answer in time and was killed"));
  pool.start(1);
  CHECK(pool.wait().piece == 1);
  go.put();
  CHECK(pool.wait().answer == json("well"));
}

TEST_CASE("each piece starts from the same memory, whatever was done before it") {
  if (kiln::test::kSanitized) KILN_SKIP("the sanitizer's allocator orders memory");
  WorkerPool pool(3, [](std::size_t) {
    std::vector<std::uintptr_t> addresses;
    for (std::size_t size = 16; size < 1 << 20; size *= 2) {
      addresses.push_back(reinterpret_cast<std::uintptr_t>(new char[size]));
    }
    return json(addresses);
  });
  std::vector<json> answers;
  std::vector<std::string> changes;
  for (std::size_t piece = 0; piece < 9; ++piece) {
    if (!pool.has_idle()) answers.push_back(pool.wait().answer.value());
    changes.emplace_back(piece * 1000, 'x');
    pool.start(piece);
  }
  for (auto &[piece, answer] : wait_for_all(&pool)) answers.push_back(answer.value());
  REQUIRE(answers.size() == 9);
  for (const json &answer : answers) CHECK(answer == answers[0]);
}

TEST_CASE("where the pool keeps processes, one does piece after piece until it dies") {
  int done = 0;
  bool keeps = true;
  WorkerPool pool(
      1,
      [&](std::size_t piece) -> json {
        if (piece == 2) std::raise(SIGKILL);
        if (piece == 5) keeps = false;
        return {{"pid", getpid()}, {"done", ++done}};
      },
      [&] { return keeps; });
  std::vector<json> answers;
  for (std::size_t piece = 0; piece < 8; ++piece) {
    pool.start(piece);
    const WorkerPool::Done answer = pool.wait();
    CHECK(answer.piece == piece);
    answers.push_back(answer.answer.value_or(nullptr));
  }
  CHECK(answers[1] == json{{"pid", answers[0]["pid"]}, {"done", 2}});
  CHECK(answers[2] == nullptr);
  CHECK(answers[3]["done"] == 1);
  CHECK(answers[3]["pid"] != answers[0]["pid"]);
  CHECK(answers[5] == json{{"pid", answers[3]["pid"]}, {"done", 3}});
  CHECK(answers[6]["done"] == 1);
  CHECK(answers[7] == json{{"pid", answers[6]["pid"]}, {"done", 2}});
  CHECK(done == 0);
}

TEST_CASE("a process that is killed at any moment of a piece ends that piece and no other") {
  WorkerPool pool(
      1,
      [](std::size_t piece) -> json {
        return {getpid(), piece};
      },
      [] { return true; });
  int killed = 0, answered = 0;
  pid_t pid = 0;  // of the process that did the last piece
  for (std::size_t piece = 0; piece < 4000; ++piece) {
    pool.start(piece);
    for (volatile std::size_t spin = piece * 37 % 12000; pid != 0 && spin > 0;) spin = spin - 1;
    if (pid != 0) killed += kill(pid, SIGKILL) == 0 ? 1 : 0;
    pid = 0;  // which another process may have from now on
    const auto done = pool.wait_for(kLong);
    REQUIRE(done);
    REQUIRE(done->piece == piece);
    if (!done->answer) continue;
    ++answered;
    CHECK((*done->answer)[1] == piece);
    pid = (*done->answer)[0];
  }
  CHECK(killed > 500);
  CHECK(answered > 500);
}

TEST_CASE("waiting for a piece ends when the time is over, and the piece goes on") {
  const Channel go;
  WorkerPool pool(2, [&](std::size_t piece) {
    go.get();
    return json(piece);
  });
  CHECK(pool.start(3) == 0);
  CHECK(pool.start(4) == 1);
  CHECK_FALSE(pool.wait_for(milliseconds(5)));
  CHECK(pool.has_busy());
  go.put();
  CHECK(pool.wait_for(kLong));
  go.put();
  CHECK(pool.wait_for(kLong));
}

TEST_CASE("a process that may have few files open has a pool, too") {
  const auto result = fork_call(
      [] {
        const rlimit few{64, 64};
        setrlimit(RLIMIT_NOFILE, &few);
        WorkerPool pool(2, [](std::size_t piece) { return json(piece); });
        pool.start(5);
        return pool.wait().answer.value();
      },
      kLong);
  CHECK(result.answer == json(5));
}

#ifdef __linux__
TEST_CASE("when the pool goes, its workers and what they run go with it") {
  Channel ready;
  {
    WorkerPool pool(3, [&](std::size_t) {
      fork_call(
          [&] {
            ready.put();
            return hang();
          },
          kLong);
      return json();
    });
    for (std::size_t piece = 0; piece < 3; ++piece) pool.start(piece);
    for (int i = 0; i < 3; ++i) REQUIRE(ready.get());
  }
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // none is left to reap
  ready.close_writer();
  CHECK_FALSE(ready.get());
}

TEST_CASE("an interrupt of the caller leaves nothing behind") {
  Channel ready;
  const pid_t caller = fork();
  if (caller == 0) {
    std::signal(SIGINT, SIG_DFL);
    WorkerPool pool(3, [&](std::size_t) {
      fork_call(
          [&] {
            ready.put();
            return hang();
          },
          kLong);
      return json();
    });
    for (std::size_t piece = 0; piece < 3; ++piece) pool.start(piece);
    pool.wait();
    _exit(0);
  }
  ready.close_writer();
  for (int i = 0; i < 3; ++i) REQUIRE(ready.get());
  kill(caller, SIGINT);
  int status = 0;
  REQUIRE(waitpid(caller, &status, 0) == caller);
  CHECK(WIFSIGNALED(status));
  CHECK_FALSE(ready.get());
}
#endif

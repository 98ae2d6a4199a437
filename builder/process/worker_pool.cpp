// SPDX-License-Identifier: Apache-2.0
#include "builder/process/worker_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builder/process/fork_call.hpp"

namespace kiln::builder {
namespace {

int wait_for(pid_t pid) {
  int status = -1;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

[[noreturn]] void do_piece(const WorkerPool::Work &work, std::size_t piece, int answers) {
  try {
    const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(work(piece));
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n = write(answers, bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno != EINTR) _exit(1);
      done += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    }
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

// A worker's life. Nothing here allocates: its memory stays as it was.
[[noreturn]] void serve(const WorkerPool::Work &work, int orders, int answers) {
  const pid_t worker = getpid();
  std::signal(SIGCHLD, SIG_DFL);  // whoever started the caller may have it ignored
  for (;;) {
    std::size_t piece = 0;
    const ssize_t n = recv(orders, &piece, sizeof(piece), MSG_WAITALL);
    if (n < 0 && errno == EINTR) continue;
    if (n != static_cast<ssize_t>(sizeof(piece))) _exit(0);
    const pid_t pid = fork();
    if (pid == 0) {
      end_with(worker);
      do_piece(work, piece, answers);
    }
    const int status = pid > 0 ? wait_for(pid) : -1;
    if (send(orders, &status, sizeof(status), MSG_NOSIGNAL) < 0) _exit(1);
  }
}

// Reads what is there, no more.
void drain(int fd, std::vector<std::uint8_t> *into) {
  std::uint8_t chunk[65536];
  for (;;) {
    const ssize_t n = read(fd, chunk, sizeof(chunk));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    into->insert(into->end(), chunk, chunk + n);
  }
}

}  // namespace

WorkerPool::WorkerPool(std::size_t workers, const Work &work) {
  for (std::size_t i = 0; i < std::min(workers, kMost); ++i) {
    if (!open(&workers_[i], work)) return;
  }
}

WorkerPool::~WorkerPool() {
  for (Worker &worker : workers_) close(&worker);
}

bool WorkerPool::open(Worker *worker, const Work &work) {
  int sockets[2];
  int pipes[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return false;
  if (pipe2(pipes, O_CLOEXEC) != 0) {
    ::close(sockets[0]);
    ::close(sockets[1]);
    return false;
  }
  const pid_t parent = getpid();
  worker->pid = fork();
  if (worker->pid == 0) {
    end_with(parent);
    ::close(sockets[0]);
    ::close(pipes[0]);
    serve(work, sockets[1], pipes[1]);
  }
  ::close(sockets[1]);
  ::close(pipes[1]);
  worker->orders = sockets[0];
  worker->answers = pipes[0];
  fcntl(worker->answers, F_SETFL, O_NONBLOCK);
  worker->state = State::idle;
  if (worker->pid < 0) close(worker);
  return worker->pid > 0;
}

void WorkerPool::close(Worker *worker) {
  if (worker->state == State::absent) return;
  worker->state = State::absent;
  ::close(worker->orders);
  ::close(worker->answers);
  if (worker->pid < 0) return;
  kill(worker->pid, SIGKILL);  // what it runs goes with it
  wait_for(worker->pid);
}

bool WorkerPool::has_idle() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const Worker &worker) { return worker.state == State::idle; });
}

bool WorkerPool::has_busy() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const Worker &worker) { return worker.state == State::busy; });
}

void WorkerPool::start(std::size_t piece) {
  const auto worker = std::find_if(workers_.begin(), workers_.end(),
                                   [](const Worker &one) { return one.state == State::idle; });
  worker->state = State::busy;
  worker->piece = piece;
  // Where this fails the worker is dead, which wait() sees.
  send(worker->orders, &piece, sizeof(piece), MSG_NOSIGNAL);
}

// Reads answers until a busy worker tells of an end, or is dead.
WorkerPool::Worker *WorkerPool::wait_for_end() {
  std::array<pollfd, 2 * kMost> fds;
  for (;;) {
    for (std::size_t i = 0; i < kMost; ++i) {
      const bool busy = workers_[i].state == State::busy;
      fds[2 * i] = {busy ? workers_[i].orders : -1, POLLIN, 0};
      fds[2 * i + 1] = {busy ? workers_[i].answers : -1, POLLIN, 0};
    }
    poll(fds.data(), fds.size(), -1);
    for (std::size_t i = 0; i < kMost; ++i) {
      if (fds[2 * i + 1].revents != 0) drain(workers_[i].answers, &workers_[i].answer);
      if (fds[2 * i].revents != 0) return &workers_[i];
    }
  }
}

WorkerPool::Done WorkerPool::wait() { return finish(wait_for_end()); }

WorkerPool::Done WorkerPool::finish(Worker *worker) {
  int status = -1;
  const ssize_t n = recv(worker->orders, &status, sizeof(status), MSG_WAITALL);
  drain(worker->answers, &worker->answer);
  Done done{worker->piece, std::nullopt};
  if (n == static_cast<ssize_t>(sizeof(status)) && status == 0) {
    auto answer = nlohmann::json::from_cbor(worker->answer, true, false);
    if (!answer.is_discarded()) done.answer = std::move(answer);
  }
  worker->answer.clear();
  worker->state = State::idle;
  if (n != static_cast<ssize_t>(sizeof(status))) close(worker);
  return done;
}

}  // namespace kiln::builder

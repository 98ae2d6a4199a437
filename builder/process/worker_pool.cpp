// SPDX-License-Identifier: Apache-2.0
// Workers that fork for each piece of work, and what the parent keeps of them.
#include "builder/process/worker_pool.hpp"

#include <algorithm>
#include <csignal>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kiln::builder {
namespace {

// A worker's life: a process for each piece that it is ordered to do. Nothing here allocates: its
// memory stays as it was.
int serve(const WorkerPool::Work &work, int orders, const packs::Descriptor &answers) {
  std::signal(SIGCHLD, SIG_DFL);  // whoever started the caller may have it ignored
  for (;;) {
    std::size_t piece = 0;
    const ssize_t n =
        packs::uninterrupted([&] { return recv(orders, &piece, sizeof(piece), MSG_WAITALL); });
    if (n != static_cast<ssize_t>(sizeof(piece))) return 0;
    const pid_t pid =
        fork_child([&] { return write_answer(answers, [&] { return work(piece); }); });
    const ProcessExit exit = pid > 0 ? wait_for(pid) : ProcessExit();
    if (send(orders, &exit, sizeof(exit), MSG_NOSIGNAL) < 0) return 1;
  }
}

void drain_all(const packs::Descriptor &from, std::string *to) {
  while (drain(from, to) == Drained::some) {
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
  Pipe answers;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return false;
  packs::Descriptor mine(sockets[0]), its(sockets[1]);
  if (answers.open() != 0) return false;
  worker->pid = fork_child([&] {
    mine.close();
    answers.read.close();
    return serve(work, its.get(), answers.write);
  });
  if (worker->pid < 0) return false;
  set_nonblocking(answers.read);
  worker->orders = std::move(mine);
  worker->answers = std::move(answers.read);
  worker->state = State::idle;
  return true;
}

void WorkerPool::close(Worker *worker) {
  if (worker->state == State::absent) return;
  worker->state = State::absent;
  worker->orders.close();
  worker->answers.close();
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
  send(worker->orders.get(), &piece, sizeof(piece), MSG_NOSIGNAL);
}

// Reads answers until a busy worker tells of an end, or is dead.
WorkerPool::Worker *WorkerPool::wait_for_end() {
  std::array<pollfd, 2 * kMost> fds;
  for (;;) {
    for (std::size_t i = 0; i < kMost; ++i) {
      const bool busy = workers_[i].state == State::busy;
      fds[2 * i] = {busy ? workers_[i].orders.get() : -1, POLLIN, 0};
      fds[2 * i + 1] = {busy ? workers_[i].answers.get() : -1, POLLIN, 0};
    }
    poll(fds.data(), fds.size(), -1);
    for (std::size_t i = 0; i < kMost; ++i) {
      if (fds[2 * i + 1].revents != 0) drain_all(workers_[i].answers, &workers_[i].answer);
      if (fds[2 * i].revents != 0) return &workers_[i];
    }
  }
}

WorkerPool::Done WorkerPool::wait() { return finish(wait_for_end()); }

WorkerPool::Done WorkerPool::finish(Worker *worker) {
  ProcessExit exit;
  const ssize_t n = recv(worker->orders.get(), &exit, sizeof(exit), MSG_WAITALL);
  const bool lives = n == static_cast<ssize_t>(sizeof(exit));
  drain_all(worker->answers, &worker->answer);
  Done done{worker->piece, std::nullopt};
  if (lives && exit.done()) done.answer = read_answer(worker->answer);
  worker->answer.clear();
  worker->state = State::idle;
  if (!lives) close(worker);
  return done;
}

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Workers that fork for each piece of work, and what the parent keeps of them.
#include "builder/process/worker_pool.hpp"

#include <algorithm>
#include <csignal>

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kiln::builder {
namespace {

// What a worker and the process that it forks share.
struct Shared {
  volatile bool in_piece = false;
};

struct Job {
  const WorkerPool::Work &work;
  const WorkerPool::Keeps &keeps;
  const packs::Descriptor &orders;
  const packs::Descriptor &answers;
  Shared *shared;
};

bool tell_end(const packs::Descriptor &orders, const ProcessExit &exit) {
  return send(orders.get(), &exit, sizeof(exit), MSG_NOSIGNAL) == sizeof(exit);
}

// Does pieces while it may; the exit code.
int do_pieces(const Job &job) {
  for (bool again = true; again; again = job.keeps && job.keeps()) {
    std::size_t piece = 0;
    const ssize_t n = packs::uninterrupted(
        [&] { return recv(job.orders.get(), &piece, sizeof(piece), MSG_WAITALL); });
    if (n != static_cast<ssize_t>(sizeof(piece))) return 0;
    job.shared->in_piece = true;
    const int code = write_answer(job.answers, [&] { return job.work(piece); });
    if (code != 0) return code;
    job.shared->in_piece = false;
    if (!tell_end(job.orders, {ProcessEnd::exited, 0})) return 1;
  }
  return 0;
}

// A worker's life: a process for the next pieces whenever there is none. Nothing here allocates:
// its memory stays as it was.
int serve(const Job &job) {
  std::signal(SIGCHLD, SIG_DFL);  // whoever started the caller may have it ignored
  for (;;) {
    pollfd order{job.orders.get(), POLLIN, 0};
    if (packs::uninterrupted([&] { return poll(&order, 1, -1); }) < 0) return 1;
    char byte = 0;
    if (recv(job.orders.get(), &byte, 1, MSG_PEEK) <= 0) return 0;  // no more orders
    const pid_t pid = fork_child([&] { return do_pieces(job); });
    const ProcessExit exit = pid > 0 ? wait_for(pid) : ProcessExit();
    if (pid > 0 && !job.shared->in_piece) continue;
    job.shared->in_piece = false;
    if (pid < 0) {
      std::size_t piece = 0;  // is not done
      (void)recv(job.orders.get(), &piece, sizeof(piece), MSG_WAITALL);
    }
    if (!tell_end(job.orders, exit)) return 1;
  }
}

void drain_all(const packs::Descriptor &from, std::string *to) {
  while (drain(from, to) == Drained::some) {
  }
}

}  // namespace

WorkerPool::WorkerPool(std::size_t workers, const Work &work, const Keeps &keeps) {
  for (std::size_t i = 0; i < std::min(workers, kMost); ++i) {
    if (!open(&workers_[i], work, keeps)) return;
    opened_ = i + 1;
  }
}

WorkerPool::~WorkerPool() {
  for (Worker &worker : workers_) close(&worker);
}

bool WorkerPool::open(Worker *worker, const Work &work, const Keeps &keeps) {
  int sockets[2];
  Pipe answers;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return false;
  packs::Descriptor mine(sockets[0]), its(sockets[1]);
  if (answers.open() != 0) return false;
  void *const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  worker->pid = fork_child([&] {
    mine.close();
    answers.read.close();
    return serve({work, keeps, its, answers.write, new (memory) Shared});
  });
  munmap(memory, sizeof(Shared));
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
  // No more than there are: a system refuses more than the files that a process may have open.
  const std::size_t count = opened_;
  for (;;) {
    for (std::size_t i = 0; i < count; ++i) {
      const bool busy = workers_[i].state == State::busy;
      fds[2 * i] = {busy ? workers_[i].orders.get() : -1, POLLIN, 0};
      fds[2 * i + 1] = {busy ? workers_[i].answers.get() : -1, POLLIN, 0};
    }
    poll(fds.data(), 2 * count, -1);
    for (std::size_t i = 0; i < count; ++i) {
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

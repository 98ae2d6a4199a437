// SPDX-License-Identifier: Apache-2.0
// Workers that fork for each piece of work, and the parent's records of them.
#include "builder/process/worker_pool.hpp"

#include <algorithm>
#include <csignal>

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kiln::builder {
namespace {

// Orders are numbered. A process may be killed between any two steps, so after its death its worker
// reports the end of the last order once more, and the pool takes the first end of each order.
struct Order {
  std::uint64_t number;
  std::size_t piece;
};

struct End {
  std::uint64_t number;
  ProcessExit exit;
};

// Memory shared by a worker and the process that it forks.
struct Shared {
  volatile std::uint64_t taken = 0;  // the number of the last order
};

struct Job {
  const WorkerPool::Work &work;
  const WorkerPool::Keeps &keeps;
  const packs::Descriptor &orders;
  const packs::Descriptor &answers;
  Shared *shared;
};

// Returns false if no more orders come.
bool receive(const packs::Descriptor &orders, int flags, Order *order) {
  return packs::uninterrupted([&] {
           return recv(orders.get(), order, sizeof(*order), MSG_WAITALL | flags);
         }) == sizeof(*order);
}

bool send_end(const packs::Descriptor &orders, const End &end) {
  return send(orders.get(), &end, sizeof(end), MSG_NOSIGNAL) == sizeof(end);
}

// Does pieces as long as `keeps` allows it, and returns the exit code. Notes an order before taking
// it from the socket.
int do_pieces(const Job &job) {
  for (bool again = true; again; again = job.keeps && job.keeps()) {
    Order order{};
    if (!receive(job.orders, MSG_PEEK, &order)) return 0;
    job.shared->taken = order.number;
    if (!receive(job.orders, 0, &order)) return 0;
    const int code = write_answer(job.answers, [&] { return job.work(order.piece); });
    if (code != 0) return code;
    if (!send_end(job.orders, {order.number, {ProcessEnd::exited, 0}})) return 1;
  }
  return 0;
}

// The main loop of a worker: forks a process for the next pieces whenever there is none. Nothing
// here allocates, so that the worker's memory does not change.
int serve(const Job &job) {
  std::signal(SIGCHLD, SIG_DFL);  // the caller's parent may have made it ignored
  for (;;) {
    Order order{};
    if (!receive(job.orders, MSG_PEEK, &order)) return 0;
    if (order.number != job.shared->taken) {
      const pid_t pid = fork_child([&] { return do_pieces(job); });
      const ProcessExit exit = pid > 0 ? wait_for(pid) : ProcessExit();
      if (pid < 0) job.shared->taken = order.number;  // the piece is not done
      if (!send_end(job.orders, {job.shared->taken, exit})) return 1;
    } else if (!receive(job.orders, 0, &order)) {  // noted and reported, but not taken
      return 0;
    }
  }
}

void drain_all(const packs::Descriptor &from, std::string *to) {
  while (drain(from, to) == Drained::some) {
  }
}

}  // namespace

WorkerPool::WorkerPool(std::size_t workers, const Work &work, const Keeps &keeps) {
  for (std::size_t i = 0; i < std::min(workers, kMax); ++i) {
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
  kill(worker->pid, SIGKILL);  // this also ends the worker's child
  builder::wait_for(worker->pid);
}

bool WorkerPool::has_idle() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const Worker &worker) { return worker.state == State::idle; });
}

bool WorkerPool::has_busy() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const Worker &worker) { return worker.state == State::busy; });
}

std::size_t WorkerPool::start(std::size_t piece) {
  const auto worker = std::find_if(workers_.begin(), workers_.end(),
                                   [](const Worker &one) { return one.state == State::idle; });
  worker->state = State::busy;
  worker->piece = piece;
  const Order order{++worker->order, piece};
  // If sending fails, the worker is dead; wait() notices.
  send(worker->orders.get(), &order, sizeof(order), MSG_NOSIGNAL);
  return static_cast<std::size_t>(worker - workers_.begin());
}

// Reads answers until a busy worker reports an end or dies; null if the time is over.
WorkerPool::Worker *WorkerPool::worker_that_ends(Clock::time_point until) {
  std::array<pollfd, 2 * kMax> fds;
  // Only as many as were opened: poll() refuses more entries than the process may have open files.
  const std::size_t count = opened_;
  for (;;) {
    for (std::size_t i = 0; i < count; ++i) {
      const bool busy = workers_[i].state == State::busy;
      fds[2 * i] = {busy ? workers_[i].orders.get() : -1, POLLIN, 0};
      fds[2 * i + 1] = {busy ? workers_[i].answers.get() : -1, POLLIN, 0};
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return nullptr;
    poll(fds.data(), 2 * count, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    for (std::size_t i = 0; i < count; ++i) {
      if (fds[2 * i + 1].revents != 0) drain_all(workers_[i].answers, &workers_[i].answer);
      if (fds[2 * i].revents != 0) return &workers_[i];
    }
  }
}

WorkerPool::Done WorkerPool::wait() {
  for (;;) {
    if (auto done = wait_for(std::chrono::hours(1))) return *std::move(done);
  }
}

std::optional<WorkerPool::Done> WorkerPool::wait_for(std::chrono::milliseconds limit) {
  const Clock::time_point until = Clock::now() + limit;
  while (Worker *worker = worker_that_ends(until)) {
    if (auto done = finish(worker)) return done;
  }
  return std::nullopt;
}

// Returns nothing if the worker reported the end of an earlier order.
std::optional<WorkerPool::Done> WorkerPool::finish(Worker *worker) {
  End end{};
  const ssize_t n = recv(worker->orders.get(), &end, sizeof(end), MSG_WAITALL);
  const bool lives = n == static_cast<ssize_t>(sizeof(end));
  if (lives && end.number != worker->order) return std::nullopt;
  drain_all(worker->answers, &worker->answer);
  Done done{worker->piece, std::nullopt};
  if (lives && end.exit.done()) done.answer = read_answer(worker->answer);
  worker->answer.clear();
  worker->state = State::idle;
  if (!lives) close(worker);
  return done;
}

}  // namespace kiln::builder

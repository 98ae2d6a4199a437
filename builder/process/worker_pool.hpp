// SPDX-License-Identifier: Apache-2.0
// Processes that do pieces of work in parallel. POSIX.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <sys/types.h>
#include <nlohmann/json.hpp>

#include "builder/base/this_process.hpp"
#include "builder/process/child_process.hpp"

namespace kiln::builder {

// A pool of workers, which are forked when the pool is made, wait for orders, and fork again to do
// them. So each piece starts from the memory that the caller had when it made the pool: some
// compilers order by address, and give different bytes if memory differs. Each forked process does
// one piece, or several as long as `keeps` allows it. The caller must be single-threaded and must
// not have loaded a driver.
class WorkerPool {
 public:
  static constexpr std::size_t kMax = 256;

  using Work = std::function<nlohmann::json(std::size_t piece)>;
  // Asked after each piece, in the process that did it: may this process do another piece?
  using Keeps = std::function<bool()>;
  struct Done {
    std::size_t piece;
    std::optional<nlohmann::json> answer;  // none if the process died; see fork_call.hpp
  };

  // Starts at most kMax workers, and fewer if the system allows no more. `work` is called in a
  // process of its own, which may fork in turn; without `keeps`, in a new process for each piece.
  WorkerPool(std::size_t workers, const Work &work, const Keeps &keeps = nullptr);
  WorkerPool(const WorkerPool &) = delete;
  // Ends the workers and their current pieces.
  ~WorkerPool();

  // has_idle(): start() may be called. has_busy(): wait() may be called.
  bool has_idle() const;
  bool has_busy() const;

  // Starts a piece and returns the number of its worker, from 0.
  std::size_t start(std::size_t piece);
  // Waits until one piece is done. If a worker dies, only its own piece is lost.
  Done wait();
  // Waits for at most `limit`; nothing if no piece is done by then.
  std::optional<Done> wait_for(std::chrono::milliseconds limit);

 private:
  enum class State { absent, idle, busy };
  struct Worker {
    State state = State::absent;
    pid_t pid = -1;
    packs::Descriptor orders;   // a socket: orders out, the ends of orders back
    packs::Descriptor answers;  // a pipe, read without blocking
    std::uint64_t order = 0;    // the number of the last order
    std::size_t piece = 0;
    std::string answer;
  };

  bool open(Worker *worker, const Work &work, const Keeps &keeps);
  void close(Worker *worker);
  Worker *worker_that_ends(Clock::time_point until);
  std::optional<Done> finish(Worker *worker);

  std::size_t opened_ = 0;
  std::array<Worker, kMax> workers_;  // the same size for any number of workers: see above
};

}  // namespace kiln::builder

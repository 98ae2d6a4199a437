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

// The workers are forked with the pool, wait for orders, and fork again for the pieces. So what
// does pieces starts from the memory that the caller had when it made the pool: some compilers
// order by address, and give other bytes from other memory. One such process does a piece, or many
// where `keeps` says so. The caller must be single-threaded and must not have loaded a driver.
class WorkerPool {
 public:
  static constexpr std::size_t kMost = 256;

  using Work = std::function<nlohmann::json(std::size_t piece)>;
  // Asked after each piece, in the process that did it: whether that may do another.
  using Keeps = std::function<bool()>;
  struct Done {
    std::size_t piece;
    std::optional<nlohmann::json> answer;  // none where the process died; see fork_call.hpp
  };

  // At most kMost workers, and fewer where the system gives no more. `work` is called in a process
  // of its own, which may fork in turn; without `keeps` in one for each piece.
  WorkerPool(std::size_t workers, const Work &work, const Keeps &keeps = nullptr);
  WorkerPool(const WorkerPool &) = delete;
  // Ends the workers, and what they are at.
  ~WorkerPool();

  // Whether start() may be called, and whether wait().
  bool has_idle() const;
  bool has_busy() const;

  // The number of the worker that does it, from 0.
  std::size_t start(std::size_t piece);
  // Waits until one of the pieces is done. Any worker's death is the end of its piece alone.
  Done wait();
  // The same; nothing where none is done in that time.
  std::optional<Done> wait_for(std::chrono::milliseconds limit);

 private:
  enum class State { absent, idle, busy };
  struct Worker {
    State state = State::absent;
    pid_t pid = -1;
    packs::Descriptor orders;   // a socket: orders out, their ends back
    packs::Descriptor answers;  // a pipe, read without blocking
    std::uint64_t order = 0;    // the number of the last one
    std::size_t piece = 0;
    std::string answer;
  };

  bool open(Worker *worker, const Work &work, const Keeps &keeps);
  void close(Worker *worker);
  Worker *worker_that_ends(Clock::time_point until);
  std::optional<Done> finish(Worker *worker);

  std::size_t opened_ = 0;
  std::array<Worker, kMost> workers_;  // of one size for any number: see above
};

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// The progress of a long command, as one line; numbers of things. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kiln::builder {

struct ProgressState {
  std::size_t done = 0;
  std::size_t all = 0;
  // The jobs among `done` that were really timed here, not found in a store.
  std::size_t timed = 0;
  double seconds = 0;  // since the first timed job began
  std::size_t failed = 0;
  std::size_t running = 1;
  std::string what{};  // the first running job
};

// Returns "[12/40] 3.2/s, 9 s left, 1 failed: laplace/scalar for NVIDIA H200, and 1 more". Rate and
// remaining time appear once three jobs were timed, over at least two seconds. Control characters
// in names are shown as "?".
std::string progress_text(const ProgressState &progress);

// Returns "1 program", "2 programs" or "3 entries".
std::string count(std::uint64_t n, const std::string &noun);

// Cuts a line of UTF-8 to at most `columns` characters, ending with "..." if anything is cut off. A
// wide character counts as one.
std::string cut_line(const std::string &line, std::size_t columns);

// Paces progress lines when there is no terminal: lets a line pass after `kSilence` seconds without
// one.
class ProgressPace {
 public:
  static constexpr double kSilence = 30;

  // `now` is in seconds of any monotonic clock. The first call never passes.
  bool passes(double now);

 private:
  double last_ = -1;
};

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// How far a long command is, as one line. Pure.
#pragma once

#include <cstddef>
#include <string>

namespace kiln::builder {

struct ProgressState {
  std::size_t done = 0;
  std::size_t all = 0;
  std::size_t timed = 0;  // of `done`, those that took their time here: not found in a store
  double seconds = 0;     // since the first of these began
  std::size_t failed = 0;
  std::size_t running = 1;
  std::string what{};  // the first that runs
};

// "[12/40] 3.2/s, 9 s left, 1 failed: laplace/scalar for NVIDIA H200, and 1 more". Rate and
// remaining time are there once three were timed, for at least two seconds. Control characters of
// names are shown as "?".
std::string progress_text(const ProgressState &progress);

// The beginning of a line of UTF-8 that has at most `columns` characters, with "..." where
// something is cut off. A wide character counts as one.
std::string cut_line(const std::string &line, std::size_t columns);

// Where no terminal is: lets a line pass when nothing was told for `kSilence` seconds.
class ProgressPace {
 public:
  static constexpr double kSilence = 30;

  // `now` is in seconds of any clock that does not go back. The first call never passes.
  bool passes(double now);

 private:
  double last_ = -1;
};

}  // namespace kiln::builder

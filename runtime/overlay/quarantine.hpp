// SPDX-License-Identifier: Apache-2.0
// Decides which tasks are not given to a driver because of their history, and when they are tried
// again. Pure.
#pragma once

#include "runtime/load/persistence.hpp"

namespace kiln::runtime {

// What happened to all tasks on one rung.
struct RungHistory {
  bool survived = false;  // at least one task
  bool several = false;   // two tasks or more died
  unsigned deaths = 0;    // one for each process
};

// What happened to one task.
struct History {
  Event last = Event::none;      // ignores passed_over
  unsigned deaths = 0;           // since the driver survived it; one for each process
  unsigned passed_over = 0;      // starts since the last death or refusal
  unsigned refusals = 0;         // since the driver survived it
  bool passed_over_now = false;  // at this start
  bool stuck = false;            // another living process is in the driver past its deadline
  RungHistory rung{};
};

inline constexpr unsigned kForGood = ~0u;
inline constexpr char kStuck[] = "a process has been in the driver for longer than its deadline";

// Returns at how many starts a task is skipped before it is tried again; 0: at none.
// A binary is skipped after two deaths, since the rungs below it serve. IL and source need three:
// they take long to compile, and applications are ended meanwhile for reasons of their own. If
// something is left below it, a task is tried again after 8 starts, then 64, then 512, and then
// never with this driver. The last thing that a pack can offer is never given up: it is tried again
// after 1, 2, 4 ... 64 starts.
// A task that the compiler refused without crashing is tried again after 8, 16, 32 and 64
// starts. The last thing is tried again at once after the first refusal, which a full disk may have
// caused, then after 1, 2, 4 ... 64 starts. An optional task is left out for good after one death.
unsigned starts_to_skip(const History &history, std::optional<kiln_rung> rung,
                        const CheckOptions &options);
// Returns whether the task is skipped because of its own history. Gives the same answer during one
// start.
bool passes_over(const History &history, std::optional<kiln_rung> rung,
                 const CheckOptions &options);
// Returns ok if the task may be tried, else why it is in quarantine. Besides its own history, a
// stuck process or the rung's history may be the reason, unless the task is the last thing or the
// driver has survived it. A rung of binaries is out of use as a whole if the driver has survived
// nothing on it, and ended three processes over two different binaries.
packs::Status check_history(const History &history, std::optional<kiln_rung> rung,
                            const CheckOptions &options);

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// The rule of the quarantine as a model: two processes start, load and are killed in every order up
// to a depth, one step of the protocol at a time; and one machine for thousands of starts.
//
// A state is what lies in the overlay's folder (the journal, the markers of the dead) and what each
// process knows. The steps are those of Markers: list the markers and read the journal; record
// the deaths; remove the markers, the last one first; give the next thing to the driver behind a
// marker; come back. Between any two of them a process can be killed, or both at once.
#include <algorithm>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "runtime/overlay/journal.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::runtime;

namespace {

// A program's offers, best first; the last one is the last.
struct Offer {
  std::uint64_t id;
  kiln_rung rung;
};
const std::vector<Offer> kProgram = {{1, KILN_RUNG_EXACT}, {2, KILN_RUNG_SOURCE}};

struct Marker {
  std::uint16_t number = 0;
  Offer task{};
};

enum class Phase : std::uint8_t { off, listed, collected, ready, inside, done };

struct Process {
  Phase phase = Phase::off;
  std::vector<Marker> found;   // that it still has to remove
  std::vector<Record> view{};  // the journal as it knows it
  std::size_t offer = 0;       // that the driver has
};

struct State {
  std::vector<Record> journal;
  std::vector<Marker> dead;  // by number
  Process processes[2];
  std::uint16_t next_marker = 1;
  unsigned interruptions[3] = {};  // of each task, by its id

  std::string key() const {
    std::string text;
    const auto put = [&](std::uint64_t number) { text += std::to_string(number) + ","; };
    const auto put_records = [&](const std::vector<Record> &records) {
      put(records.size());
      for (const Record &r : records) {
        put(r.id);
        put(static_cast<unsigned>(r.event));
        put(r.marker);
      }
    };
    put_records(journal);
    put(dead.size());
    for (const Marker &m : dead) put(m.number * 8u + m.task.id);
    for (const Process &p : processes) {
      put(static_cast<unsigned>(p.phase) * 8u + p.offer);
      put(p.found.size());
      for (const Marker &m : p.found) put(m.number);
      put_records(p.view);
    }
    for (const unsigned count : interruptions) put(count);
    return text;
  }
};

Journal journal_of(const std::vector<Record> &records) {
  Journal journal;
  for (const Record &record : records) journal.add(record);
  return journal;
}

void note(State *state, Process *process, const Record &record) {
  state->journal.push_back(record);
  process->view.push_back(record);
}

// What the process gives to the driver next; none: it loads nothing at this start.
std::optional<std::size_t> next_offer(State *state, Process *process, std::size_t from) {
  for (std::size_t i = from; i < kProgram.size(); ++i) {
    const Offer &offer = kProgram[i];
    const CheckOptions options{0, i + 1 == kProgram.size()};
    const History history = journal_of(process->view).history({offer.id, offer.rung});
    if (check_history(history, offer.rung, options).ok()) return i;
    if (passes_over(history, offer.rung, options) &&
        starts_to_skip(history, offer.rung, options) != kForGood) {
      note(state, process, {offer.id, Event::passed_over, offer.rung});
    }
  }
  return std::nullopt;
}

// One step of a process; `refused`: the driver gives an error. False: there is none.
bool step(State *state, Process *process, bool refused) {
  switch (process->phase) {
    case Phase::off:
      process->view = state->journal;
      process->found = state->dead;
      process->phase = Phase::listed;
      return !refused;
    case Phase::listed: {
      std::vector<std::uint64_t> found;
      const Journal view = journal_of(process->view);
      for (const Marker &marker : process->found) {
        const bool there =
            std::any_of(state->dead.begin(), state->dead.end(),
                        [&](const Marker &dead) { return dead.number == marker.number; });
        const Record death{marker.task.id, Event::died, marker.task.rung, marker.number};
        if (there && view.is_new_death(death, &found)) note(state, process, death);
      }
      process->phase = Phase::collected;
      return !refused;
    }
    case Phase::collected: {
      if (process->found.empty()) {
        process->phase = Phase::ready;
        return !refused;
      }
      const std::uint16_t number = process->found.back().number;
      process->found.pop_back();
      std::erase_if(state->dead, [&](const Marker &dead) { return dead.number == number; });
      return !refused;
    }
    case Phase::ready:
    case Phase::inside: {
      if (process->phase == Phase::ready && refused) return false;
      const bool loaded = process->phase == Phase::inside && !refused;
      const std::size_t from = process->phase == Phase::ready ? 0 : process->offer + 1;
      if (loaded) {
        const Offer &offer = kProgram[process->offer];
        note(state, process, {offer.id, Event::proven, offer.rung});
        process->phase = Phase::done;
        return true;
      }
      const auto next = next_offer(state, process, from);
      process->phase = next ? Phase::inside : Phase::done;
      process->offer = next.value_or(0);
      return true;
    }
    case Phase::done: *process = Process(); return !refused;
  }
  return false;
}

void end(State *state, Process *process) {
  if (process->phase == Phase::inside) {
    state->dead.push_back({state->next_marker++, kProgram[process->offer]});
  }
  *process = Process();
}

// The processes of `which` (bits) end at one moment.
void interrupt(State *state, unsigned which) {
  std::set<std::uint64_t> hit;
  for (unsigned i = 0; i < 2; ++i) {
    Process &process = state->processes[i];
    if ((which >> i & 1) == 0) continue;
    if (process.phase == Phase::inside) hit.insert(kProgram[process.offer].id);
    end(state, &process);
  }
  for (const std::uint64_t id : hit) ++state->interruptions[id];
}

// Undisturbed starts until the program is loaded.
unsigned starts_to_load(State state) {
  for (Process &process : state.processes) end(&state, &process);
  for (unsigned starts = 1; starts < 1000; ++starts) {
    Process &process = state.processes[0];
    process = Process();
    while (process.phase != Phase::done) step(&state, &process, false);
    if (state.journal.size() != 0 && survived(state.journal.back().event)) return starts;
  }
  return 1000;
}

}  // namespace

TEST_CASE("no order of starts and interruptions leaves a machine without its programs",
          "[quarantine][model]") {
  constexpr unsigned kDepth = 24;
  std::set<std::string> seen;
  std::queue<std::pair<State, unsigned>> open;
  open.push({State(), 0});
  unsigned worst = 0;
  bool counted_right = true;
  while (!open.empty()) {
    // Clang before 16 takes no name of a structured binding into a lambda.
    const State state = open.front().first;
    const unsigned steps = open.front().second;
    open.pop();
    const Journal journal = journal_of(state.journal);
    for (const Offer &offer : kProgram) {
      counted_right &= journal.history({offer.id}).deaths <= state.interruptions[offer.id];
    }
    worst = std::max(worst, starts_to_load(state));
    if (steps == kDepth) continue;
    const auto visit = [&](State next) {
      if (seen.insert(next.key()).second) open.push({std::move(next), steps + 1});
    };
    for (unsigned i = 0; i < 2; ++i) {
      for (const bool refused : {false, true}) {
        State next = state;
        if (step(&next, &next.processes[i], refused)) visit(std::move(next));
      }
    }
    for (const unsigned which : {1u, 2u, 3u}) {
      State next = state;
      interrupt(&next, which);
      visit(std::move(next));
    }
  }
  CHECK(seen.size() > 50'000);
  CHECK(counted_right);  // never more deaths than interruptions
  // So few interruptions do not even cost a start without the program.
  CHECK(worst == 1);
}

TEST_CASE("however often two processes were interrupted, 65 starts load the program",
          "[quarantine][model]") {
  std::mt19937 numbers(1);
  const auto random = [&](unsigned below) { return static_cast<unsigned>(numbers()) % below; };
  unsigned worst = 0;
  for (int walk = 0; walk < 200; ++walk) {
    State state;
    for (int i = 0; i < 400; ++i) {
      const unsigned which = random(2);
      const bool inside = state.processes[which].phase == Phase::inside;
      if (random(16) < (inside ? 15 : 1)) {  // what takes long is what is interrupted
        interrupt(&state, random(8) == 0 ? 3 : 1 + which);
      } else {
        step(&state, &state.processes[which], random(8) == 0);
      }
    }
    worst = std::max(worst, starts_to_load(std::move(state)));
  }
  CHECK(worst > 1);
  CHECK(worst <= 65);
}

TEST_CASE("what always kills is given five times, or ever more rarely", "[quarantine][model]") {
  struct Row {
    const char *name;
    std::set<std::uint64_t> deadly;
    unsigned starts;
    unsigned deaths;
    unsigned without;  // starts that loaded nothing, but for deaths
  };
  const Row rows[] = {
      {"the binary", {1}, 5000, 5, 0},
      {"the source", {2}, 5000, 0, 0},  // the binary is taken
      // 2 + 3 of the binary; of the source 3, then after 1, 2, 4, ... 64 starts, and 64 again.
      {"both", {1, 2}, 5000, 5 + 3 + 7 + 74, 5000 - 89},
  };
  for (const Row &row : rows) {
    CAPTURE(row.name);
    State state;
    unsigned deaths = 0;
    unsigned without = 0;
    for (unsigned i = 0; i < row.starts; ++i) {
      Process &process = state.processes[0];
      process = Process();
      for (bool ended = false; !ended;) {
        const bool inside = process.phase == Phase::inside;
        if (inside && row.deadly.count(kProgram[process.offer].id) != 0) {
          interrupt(&state, 1);
          ++deaths;
          ended = true;
        } else {
          const bool last_step = process.phase != Phase::off;
          step(&state, &process, false);
          ended = last_step && process.phase == Phase::done;
          without += ended && !inside ? 1 : 0;
        }
      }
    }
    CHECK(deaths == row.deaths);
    CHECK(without == row.without);
  }
}

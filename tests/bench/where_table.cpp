// SPDX-License-Identifier: Apache-2.0
// Adds up parts and calls, and takes medians over the processes.
#include "tests/bench/where_table.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "builder/base/table.hpp"
#include "builder/tune/sampler.hpp"
#include "tests/bench/timed_calls.hpp"

namespace kiln::test {
namespace {

using nlohmann::json;

constexpr const char *kLoadCalls[] = {"clCreateProgramWithBinary", "clBuildProgram",
                                      "clCreateKernel"};

using Calls = std::map<std::string, std::pair<double, double>>;  // number and time by name

// A part of a start: its medians over the processes, in microseconds.
struct Median {
  Part part;
  double own = 0;  // outside of the driver
  Calls calls;
};

double microseconds(const json &nanoseconds) { return nanoseconds.get<double>() / 1000; }

// Returns the median of part `index`. All processes have the same parts in the same order.
Median median_of(const std::vector<json> &starts, std::size_t index) {
  Median out{starts.front()[index]["part"], 0, {}};
  std::vector<double> own;
  std::map<std::string, std::vector<double>> times;
  for (const json &start : starts) {
    own.push_back(microseconds(start[index]["ns"]));
    for (const auto &[name, call] : start[index]["calls"].items()) {
      own.back() -= microseconds(call[1]);
      times[name].push_back(microseconds(call[1]));
      out.calls[name].first = call[0].get<double>();
    }
  }
  out.own = builder::median(own);
  for (const auto &[name, values] : times) out.calls[name].second = builder::median(values);
  return out;
}

// One column: the starts of one kind. Medians are taken before parts are added up, so that an
// interruption of a process counts in one part only.
class Column {
 public:
  explicit Column(const std::vector<json> &starts, const std::vector<json> &steps = {}) {
    for (const std::vector<json> *all : {&starts, &steps}) {
      const std::size_t count = all->empty() ? 0 : all->front().size();
      for (std::size_t i = 0; i < count; ++i) {
        const Median part = median_of(*all, i);
        // Of the steps only a load's: their processes open everything, too.
        if (part.part != Part::none && is_step(part.part) == (all == &steps))
          parts_.push_back(part);
      }
    }
  }

  // Kiln's own time in a part.
  double own(Part part) const {
    double sum = 0;
    for (const Median &each : parts_) sum += each.part == part ? each.own : 0;
    return sum;
  }
  // The driver's calls in a part, or in a whole start.
  Calls calls(Part part = Part::none) const {
    Calls sums;
    for (const Median &each : parts_) {
      if (is_step(each.part) || (part != Part::none && each.part != part)) continue;
      for (const auto &[name, call] : each.calls) {
        sums[name].first += call.first;
        sums[name].second += call.second;
      }
    }
    return sums;
  }
  double driver(Part part) const {
    double sum = 0;
    for (const auto &[name, call] : calls(part)) sum += call.second;
    return sum;
  }
  double driver(Part part, const std::string &function) const {
    return calls(part)[function].second;
  }
  double all(Part part) const { return own(part) + driver(part); }

 private:
  static bool is_step(Part part) { return part >= Part::choose; }

  std::vector<Median> parts_;
};

class Table {
 public:
  Table(const WhereSamples &samples, std::size_t programs)
      : columns_{Column(samples.floor), Column(samples.kiln, samples.kiln_steps),
                 Column(samples.overlay, samples.overlay_steps)},
        programs_(static_cast<double>(programs)) {}

  std::string text() {
    text_ = "\tfloor\tKiln\toverlay\nonce\n";
    part("  identify the device", Part::device, 1);
    part("  open the pack", Part::pack, 1);
    part("  create the loader", Part::loader, 1);
    part("  create the queue", Part::queue, 1);
    text_ += "each program\n";
    load();
    part("  take the kernels", Part::kernels, programs_);
    part("  set the arguments", Part::arguments, programs_);
    part("  launch, until the results", Part::launch, programs_);
    row("whole start", [&](const Column &column) {
      double sum = 0;
      for (const Part part : {Part::device, Part::pack, Part::loader, Part::queue, Part::load,
                              Part::kernels, Part::arguments, Part::launch}) {
        sum += column.all(part);
      }
      return sum;
    });
    calls();
    return builder::table_text(text_, " >>>");
  }

 private:
  void row(const std::string &title, const std::function<double(const Column &)> &value) {
    text_ += title;
    for (const Column &column : columns_) {
      const double value_us = value(column);
      text_ += value_us < 0.05 && value_us > -0.05 ? "\t-" : fmt::format("\t{:.1f}", value_us);
    }
    text_ += '\n';
  }

  void part(const std::string &title, Part part, double by) {
    row(title, [&](const Column &column) { return column.all(part) / by; });
  }
  void step(const std::string &title, Part part) {
    row(title, [&](const Column &column) { return column.own(part) / programs_; });
  }

  void load() {
    step("    choose the variant", Part::choose);
    step("    look it up", Part::look_up);
    step("    read", Part::read);
    step("    hash", Part::hash);
    step("    history and marker", Part::guard);
    for (const char *name : kLoadCalls) {
      row(std::string("    ") + name,
          [&](const Column &column) { return column.driver(Part::load, name) / programs_; });
    }
    row("    other calls of the driver", [&](const Column &column) {
      double rest = column.driver(Part::load);
      for (const char *name : kLoadCalls) rest -= column.driver(Part::load, name);
      return rest / programs_;
    });
    step("    checks of the program", Part::build);
    row("    report and the rest", [&](const Column &column) {
      double rest = column.own(Part::load);
      for (const Part step :
           {Part::choose, Part::look_up, Part::read, Part::hash, Part::guard, Part::build}) {
        rest -= column.own(step);
      }
      return rest / programs_;
    });
    part("  load", Part::load, programs_);
  }

  void calls() {
    std::vector<Calls> all;
    std::map<std::string, double> order;
    for (const Column &column : columns_) {
      all.push_back(column.calls());
      for (const auto &[name, call] : all.back()) order[name] += call.second;
    }
    text_ += "calls of the driver in a start: number, us\n";
    while (!order.empty()) {
      const auto longest = std::max_element(order.begin(), order.end(),
                                            [](auto &a, auto &b) { return a.second < b.second; });
      text_ += "  " + longest->first;
      for (const auto &calls : all) {
        const auto call = calls.find(longest->first);
        text_ += call == calls.end()
                     ? "\t-"
                     : fmt::format("\t{:.0f}  {:8.1f}", call->second.first, call->second.second);
      }
      text_ += '\n';
      order.erase(longest);
    }
  }

  const Column columns_[3];
  double programs_;
  std::string text_;
};

}  // namespace

std::string where_table(const WhereSamples &samples, std::size_t programs) {
  return Table(samples, programs).text();
}

}  // namespace kiln::test

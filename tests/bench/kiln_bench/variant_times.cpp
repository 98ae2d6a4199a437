// SPDX-License-Identifier: Apache-2.0
// Checks a variant in a child process, then launches it until its time is known well enough.
#include "tests/bench/kiln_bench/variant_times.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/launch/opened_pack.hpp"
#include "builder/process/fork_call.hpp"
#include "runtime/load/report.hpp"
#include "tests/bench/kiln_bench/buffer_commands.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

constexpr double kMaxFirstNanoseconds = 10e9;  // of the first, for which drivers may compile
constexpr double kWarmUpNanoseconds = 20e6;
constexpr std::uint8_t kUnwritten = 0xa5;

const char *local_source_name(kiln_local_source source) {
  constexpr const char *kNames[] = {"device", "model",  "family", "vendor",    "default", "variant",
                                    "guess",  "forced", "kernel", "suggested", "profile"};
  static_assert(std::size(kNames) == KILN_LOCAL_PROFILE + 1);
  return kNames[source];
}

// The kiln_load flag by which the runtime chooses for problems of that size.
unsigned size_flag(const ProblemSize &size) {
  switch (packs::size_class(size.elements())) {
    case packs::SizeClass::small: return KILN_LOAD_FOR_SMALL;
    case packs::SizeClass::medium: return KILN_LOAD_FOR_MEDIUM;
    case packs::SizeClass::large: break;
  }
  return 0;
}

std::string too_slow(double nanoseconds) {
  return fmt::format("one launch takes {:.1f} s", nanoseconds / 1e9);
}

// One loaded variant with its memory.
class TimedVariant {
 public:
  explicit TimedVariant(const VariantTask &task) : task_(task) {}

  Status open(std::string *rung) {
    if (Status s = opened_.open(*task_.device, task_.pack_path); !s.ok()) return s;
    kiln::Loaded loaded = opened_.loader.load(task_.program->name, task_.variant->name);
    if (!loaded.program) return status_of(loaded.program.error());
    *rung = runtime::rung_name(loaded.report.rung());
    session_.emplace(opened_.cl(), opened_.loader, opened_.queue);
    return session_->load(*loaded.program, *task_.variant);
  }

  // Fills `out`; the error is one that ends all of it.
  Status measure(const MeasuredProblem &problem, VariantTime *out) {
    if (Status s = check_once(problem.check, out); !s.ok()) return s;
    if (out->check == Check::wrong) {
      out->reason = wrong_;
      out->failed = true;
      return {};
    }
    const auto pixels = static_cast<double>(problem.size.elements());
    if (pixels * per_element_ > 2 * task_.most_nanoseconds) {
      out->reason = fmt::format("one launch would take about {:.1f} s, by a smaller size",
                                pixels * per_element_ / 1e9);
      return {};
    }
    Status status = find_limit(problem.size, &out->reason);
    if (!status.ok() || out->reason) return status;
    status = bind(problem.size, *problem.inputs, 0);
    if (status.ok()) status = warm_up(out);
    if (status.ok() && !out->reason) status = sample(out);
    if (out->time.samples != 0) per_element_ = out->time.median / pixels;
    return status;
  }

 private:
  Status plan(const ProblemSize &size, Workload *out) const {
    return plan_workload(*task_.program, *task_.variant, size, {}).move_to(out);
  }

  // What of the problem is too large for the device, if anything is.
  Status find_limit(const ProblemSize &size, std::optional<std::string> *reason) const {
    Workload workload;
    Status status = plan(size, &workload);
    if (!status.ok()) return status;
    const Status limits = over_limits(opened_.cl(), opened_.device.cl(), workload);
    if (!limits.ok()) *reason = limits.message;
    return {};
  }

  Status bind(const ProblemSize &size, const std::vector<Plane> &inputs, std::uint8_t fill) {
    Workload workload;
    Status status = plan(size, &workload);
    if (status.ok()) status = session_->bind(workload);
    if (status.ok()) status = session_->upload(inputs);
    return status.ok() ? session_->fill_outputs(fill) : status;
  }

  Status check_once(const CheckedProblem &problem, VariantTime *out) {
    if (problem.expected->empty()) return {};
    if (checked_ != problem.size) {
      if (Status s = compare(problem); !s.ok()) return s;
      checked_ = problem.size;
    }
    out->check = check_;
    out->checked = problem.size;
    return {};
  }

  Status compare(const CheckedProblem &problem) {
    Launched launched;
    std::vector<Plane> outputs;
    Status status = bind(problem.size, *problem.inputs, kUnwritten);
    if (status.ok()) status = session_->launch({}, &launched);
    if (status.ok()) status = session_->download(program_shape(*task_.program), &outputs);
    if (!status.ok()) return status;
    const Comparison c = compare_outputs(outputs, *problem.expected, task_.variant->tolerance);
    check_ = c.check;
    wrong_ = fmt::format("wrong result: {} values differ from the reference at {}, by {:g}",
                         c.different, size_text(problem.size), c.worst);
    return {};
  }

  Status warm_up(VariantTime *out) {
    Launched launched;
    double spent = 0;
    for (int i = 0; i < 2 || spent < kWarmUpNanoseconds; ++i) {
      if (Status s = session_->launch({}, &launched); !s.ok()) return s;
      spent += launched.host_nanoseconds;
      if (launched.host_nanoseconds > (i == 0 ? kMaxFirstNanoseconds : task_.most_nanoseconds)) {
        out->reason = too_slow(launched.host_nanoseconds);
        return {};
      }
    }
    for (const kiln_ndrange &range : launched.ranges) {
      out->local.push_back({range.local[0], range.local[1], range.local[2]});
    }
    return find_local_sources(out);
  }

  // One word, or where the stages differ one for each.
  Status find_local_sources(VariantTime *out) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < session_->kernels().size(); ++i) {
      const Stage &stage = session_->workload().stages[i];
      const kiln_ndrange range{
          stage.dimensions, {stage.global[0], stage.global[1], stage.global[2]}, {}, {}};
      kiln_local_source source{};
      Status status = take(session_->kernels()[i].local_source(range), &source);
      if (!status.ok()) return status;
      words.emplace_back(local_source_name(source));
    }
    if (std::equal(words.begin() + 1, words.end(), words.begin())) words.resize(1);
    out->local_from = fmt::format("{}", fmt::join(words, ", "));
    return {};
  }

  Status sample(VariantTime *out) {
    Sampler by_device(task_.rule);
    Sampler by_host(task_.rule);
    out->wall = task_.wall;
    Launched launched;
    while (!(out->wall ? by_host : by_device).enough()) {
      if (Status s = session_->launch({}, &launched); !s.ok()) return s;
      const double device = launched.device_nanoseconds();
      out->wall = out->wall || !sensible_time(device, launched.host_nanoseconds);
      by_device.add(device);
      by_host.add(launched.host_nanoseconds);
    }
    out->time = (out->wall ? by_host : by_device).statistics();
    out->wall_median = by_host.statistics().median;
    return {};
  }

  const VariantTask &task_;
  OpenedPack opened_;
  std::optional<Session> session_;
  std::optional<ProblemSize> checked_;
  Check check_ = Check::unchecked;
  std::string wrong_;
  double per_element_ = 0;  // nanoseconds, at the last size
};

json to_json(const VariantTime &time) {
  return {{"reason", time.reason ? json(*time.reason) : json()},
          {"failed", time.failed},
          {"check", static_cast<int>(time.check)},
          {"checked", {time.checked.width, time.checked.height, time.checked.depth}},
          {"local", time.local},
          {"local_from", time.local_from},
          {"median", time.time.median},
          {"least", time.time.least},
          {"spread", time.time.spread},
          {"samples", time.time.samples},
          {"wall", time.wall},
          {"wall_median", time.wall_median}};
}

VariantTime time_from(const json &in) {
  VariantTime time;
  if (!in["reason"].is_null()) time.reason = in["reason"].get<std::string>();
  time.failed = in["failed"];
  time.check = static_cast<Check>(in["check"].get<int>());
  time.checked = {in["checked"][0], in["checked"][1], in["checked"][2]};
  time.local = in["local"].get<std::vector<NDSize>>();
  time.local_from = in["local_from"];
  time.time = {in["median"], in["least"], in["spread"], in["samples"]};
  time.wall = in["wall"];
  time.wall_median = in["wall_median"];
  return time;
}

// Smaller problems first: they tell what larger ones will take.
std::vector<std::size_t> by_size(const std::vector<MeasuredProblem> &problems) {
  std::vector<std::size_t> order(problems.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return problems[a].size.elements() < problems[b].size.elements();
  });
  return order;
}

json measure_in_child(const VariantTask &task) {
  TimedVariant timed(task);
  std::string rung;
  if (const Status s = timed.open(&rung); !s.ok()) return builder::to_json(s);
  json times = json::array();
  for (const std::size_t i : by_size(task.problems)) {
    VariantTime time;
    const Status status = timed.measure(task.problems[i], &time);
    if (!status.ok()) {
      time.reason = status.message;
      time.failed = true;
    }
    times[i] = to_json(time);
  }
  return {{"rung", rung}, {"times", times}};
}

VariantMeasurement measure_once(const VariantTask &task, bool *died) {
  const auto timeout = std::chrono::seconds(60 + 30 * task.problems.size());
  const ChildResult child = fork_call([&] { return measure_in_child(task); }, timeout);
  VariantMeasurement result;
  *died = !child.ok() && (child.end == ProcessEnd::signalled || child.end == ProcessEnd::exited);
  if (!child.ok()) {
    result.status = {Code::process, "the driver " + child.reason()};
    return result;
  }
  result.status = child.status();
  if (!result.status.ok()) return result;
  result.rung = child.answer["rung"];
  for (const json &time : child.answer["times"]) result.times.push_back(time_from(time));
  return result;
}

json choose_in_child(const DeviceInfo &device, const std::string &pack_path,
                     const std::string &program, const std::vector<ProblemSize> &sizes) {
  OpenedPack opened;
  json names = json::array();
  if (!opened.open(device, pack_path).ok()) return names;
  for (const ProblemSize &size : sizes) {
    kiln::Loaded loaded = opened.loader.load(program, {}, size_flag(size));
    names.push_back(loaded.program ? loaded.program->variant() : std::string());
  }
  return names;
}

}  // namespace

VariantMeasurement measure_variant(const VariantTask &task) {
  bool died = false;
  VariantMeasurement together = measure_once(task, &died);
  if (!died || task.problems.size() < 2) return together;
  VariantMeasurement result;
  bool any = false;
  for (const MeasuredProblem &problem : task.problems) {
    VariantTask alone = task;
    alone.problems = {problem};
    const VariantMeasurement one = measure_once(alone, &died);
    if (one.status.ok()) {
      any = true;
      result.rung = one.rung;
      result.times.push_back(one.times.front());
      continue;
    }
    result.times.emplace_back();
    result.times.back().reason = one.status.message;
    result.times.back().failed = true;
  }
  return any ? result : together;
}

std::vector<std::string> chosen_variants(const DeviceInfo &device, const std::string &pack_path,
                                         const std::string &program,
                                         const std::vector<ProblemSize> &sizes) {
  const ChildResult child = fork_call(
      [&] { return choose_in_child(device, pack_path, program, sizes); }, std::chrono::minutes(2));
  std::vector<std::string> names(sizes.size());
  if (!child.ok()) return names;
  for (std::size_t i = 0; i < child.answer.size(); ++i) names[i] = child.answer[i];
  return names;
}

}  // namespace kiln::builder

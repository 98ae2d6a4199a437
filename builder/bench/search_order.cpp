// SPDX-License-Identifier: Apache-2.0
// Measures all work-group sizes of a kernel, and replays the tuner's search on the times.
#include "builder/bench/search_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "builder/finish/launch_sizes.hpp"
#include "builder/launch/opened_pack.hpp"
#include "builder/launch/session.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/status_json.hpp"
#include "builder/tune/search_plan.hpp"
#include "builder/tune/stop_rules.hpp"
#include "builder/tune/tuned_kernel.hpp"
#include "runtime/launch/enqueue.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using Times = std::map<NDSize, double>;

ProblemSize problem_of(const packs::Program &program) {
  constexpr std::uint32_t kSide = 1024;
  constexpr std::uint32_t kDeepSide = 64;
  if (works_on_rows(program)) return {kSide * kSide, 1, 1};
  const bool deep = std::any_of(program.sizes.begin(), program.sizes.end(),
                                [](const auto &size) { return size[2] > 1; });
  return deep ? ProblemSize{kDeepSide, kDeepSide, kDeepSide} : ProblemSize{kSide, kSide, 1};
}

// One variant with its memory, whose stages are measured one after the other.
class Measured {
 public:
  Status open(const DeviceInfo &device, const SearchOrderOptions &options,
              const packs::Program &program, const packs::Variant &variant,
              const ProblemSize &size) {
    variant_ = &variant;
    if (Status s = bench_.open(device, options.pack_path); !s.ok()) return s;
    loaded_.emplace(bench_.loader.load(program.name, variant.name, KILN_LOAD_UNPROVEN));
    if (!loaded_->program) return status_of(loaded_->program.error());
    const auto workload = plan_workload(program, variant, size, {});
    if (!workload.ok()) return workload.status();
    session_.emplace(bench_.cl(), bench_.loader, bench_.queue);
    Status status = session_->load(*loaded_->program, variant);
    if (status.ok()) status = session_->bind(*workload);
    if (status.ok()) status = session_->upload(make_inputs(program, workload->size));
    if (status.ok()) status = session_->fill_outputs(0);
    Launched second;
    for (int i = 0; i < 2 && status.ok(); ++i) status = session_->launch({}, &second);
    if (!status.ok() || second.host_nanoseconds < kSlowest) return status;
    return {Code::failed, "a launch takes over a second"};
  }

  std::size_t stages() const { return session_->workload().stages.size(); }

  // Nothing for a kernel with a required size.
  std::optional<SearchOrder> order(std::size_t s) {
    const Stage &stage = session_->workload().stages[s];
    const cl_kernel kernel = session_->kernels()[s].cl();
    const auto limits = runtime::query_limits(*bench_.child.device, kernel);
    if (limits.required[0] != 0) return std::nullopt;
    SearchOrder out;
    out.kernel = stage.kernel;
    out.seeds = find_seeds(bench_, kernel, *variant_, stage, limits);
    auto candidates = work_group_candidates(stage.dimensions, stage.global, limits);
    std::vector<NDSize> with_all = out.seeds.sizes();
    if (!keep_rules(*variant_, limits, &with_all, &candidates).ok()) return std::nullopt;
    out.candidates = candidates.size();
    Times times;
    for (const auto *sizes : {&candidates, &with_all}) {
      for (const NDSize &local : *sizes) times[local] = std::numeric_limits<double>::infinity();
    }
    measure(s, &times);
    const auto best =
        std::min_element(times.begin(), times.end(),
                         [](const auto &a, const auto &b) { return a.second < b.second; });
    out.best = best->first;
    out.best_time = best->second;
    if (!std::isfinite(out.best_time)) return std::nullopt;
    const auto of = [&](const NDSize &local) {
      const auto found = times.find(local);
      return found == times.end() || !std::isfinite(found->second) ? 0 : found->second;
    };
    out.own_time = of(out.seeds.own);
    out.suggested_time = of(out.seeds.suggested);
    out.guess_time = of(out.seeds.guess);
    Seeds guessed = out.seeds;
    guessed.suggested = {0, 0, 0};
    out.tried_without = tried_until_good(Search(candidates, {}), times);
    out.tried_guess = tried_until_good(Search(candidates, guessed.sizes()), times);
    out.tried_suggested = tried_until_good(Search(candidates, with_all), times);
    return out;
  }

 private:
  // Takes turns, so that what else the machine does at one moment meets all sizes alike. Infinity
  // for a size whose launch fails.
  void measure(std::size_t s, Times *times) {
    constexpr int kTurns = 6;
    constexpr int kLaunches = 2;
    for (auto &[local, time] : *times) {
      if (launch(s, local)) time = std::numeric_limits<double>::max();  // drivers compile now
    }
    for (int round = 0; round < kTurns; ++round) {
      for (auto &[local, time] : *times) {
        for (int i = 0; i < kLaunches && std::isfinite(time); ++i) {
          time = std::min(time, launch(s, local).value_or(std::numeric_limits<double>::infinity()));
        }
      }
    }
  }

  // Nanoseconds of that stage, or nothing.
  std::optional<double> launch(std::size_t s, const NDSize &local) {
    std::vector<NDSize> all(stages(), NDSize{0, 0, 0});
    all[s] = local;
    Launched launched;
    if (!session_->launch(all, &launched).ok()) return std::nullopt;
    const kiln_times &t = launched.times[s];
    return t.end > t.start ? static_cast<double>(t.end - t.start) : launched.host_nanoseconds;
  }

  OpenedPack bench_;
  std::optional<kiln::Loaded> loaded_;
  std::optional<Session> session_;
  const packs::Variant *variant_ = nullptr;
};

json order_json(const SearchOrder &order) {
  return {{"program", order.program},
          {"variant", order.variant},
          {"kernel", order.kernel},
          {"size", {order.size.width, order.size.height, order.size.depth}},
          {"candidates", order.candidates},
          {"best", order.best},
          {"best_nanoseconds", whole(order.best_time)},
          {"own", order.seeds.own},
          {"own_nanoseconds", time_json(order.own_time)},
          {"suggested", order.seeds.suggested},
          {"suggested_nanoseconds", time_json(order.suggested_time)},
          {"refused", order.seeds.refused},
          {"guess", order.seeds.guess},
          {"guess_nanoseconds", time_json(order.guess_time)},
          {"tried_without", order.tried_without},
          {"tried_guess", order.tried_guess},
          {"tried_suggested", order.tried_suggested}};
}

SearchOrder order_from(const json &in) {
  SearchOrder order;
  order.program = in["program"];
  order.variant = in["variant"];
  order.kernel = in["kernel"];
  order.size = {in["size"][0], in["size"][1], in["size"][2]};
  order.candidates = in["candidates"];
  order.best = in["best"].get<NDSize>();
  order.best_time = in["best_nanoseconds"];
  order.seeds.own = in["own"].get<NDSize>();
  order.own_time = time_from(in["own_nanoseconds"]);
  order.seeds.suggested = in["suggested"].get<NDSize>();
  order.suggested_time = time_from(in["suggested_nanoseconds"]);
  order.seeds.refused = in["refused"];
  order.seeds.guess = in["guess"].get<NDSize>();
  order.guess_time = time_from(in["guess_nanoseconds"]);
  order.tried_without = in["tried_without"];
  order.tried_guess = in["tried_guess"];
  order.tried_suggested = in["tried_suggested"];
  return order;
}

json measure_orders(const DeviceInfo &device, const SearchOrderOptions &options,
                    const packs::Program &program, const packs::Variant &variant,
                    const ProblemSize &size) {
  Measured measured;
  const Status status = measured.open(device, options, program, variant, size);
  if (!status.ok()) return to_json(status);
  json orders = json::array();
  for (std::size_t s = 0; s < measured.stages(); ++s) {
    auto order = measured.order(s);
    if (!order) continue;
    order->program = program.name;
    order->variant = variant.name;
    order->size = size;
    orders.push_back(order_json(*order));
  }
  return {{"orders", orders}};
}

// In a process of its own.
Status add_orders(const DeviceInfo &device, const SearchOrderOptions &options,
                  const packs::Program &program, const packs::Variant &variant,
                  const ProblemSize &size, std::vector<SearchOrder> *out) {
  Status status = runtime::check_requirements(variant.requirements, device.capabilities);
  if (status.ok()) status = check_launchable(variant);
  if (!status.ok()) return status;
  const ChildResult child = fork_call(
      [&] { return measure_orders(device, options, program, variant, size); }, options.timeout);
  if (!child.status().ok()) return child.status();
  for (const json &order : child.answer["orders"]) out->push_back(order_from(order));
  return {};
}

}  // namespace

SearchOrders search_orders(const packs::Contents &contents, const DeviceInfo &device,
                           const SearchOrderOptions &options) {
  SearchOrders out;
  out.device = device.label();
  for (const packs::Program &program : contents.programs) {
    if (!options.program.empty() && program.name != options.program) continue;
    std::vector<ProblemSize> sizes = options.sizes;
    if (sizes.empty()) sizes.push_back(problem_of(program));
    for (const packs::Variant &variant : program.variants) {
      for (const ProblemSize &size : sizes) {
        const Status status = add_orders(device, options, program, variant, size, &out.kernels);
        if (status.ok()) continue;
        out.left_out.push_back(program.name + "/" + variant.name + ": " + status.message);
        break;
      }
    }
  }
  return out;
}

json to_json(const SearchOrders &orders) {
  json kernels = json::array();
  for (const SearchOrder &order : orders.kernels) kernels.push_back(order_json(order));
  return {{"device", orders.device}, {"kernels", kernels}, {"left_out", orders.left_out}};
}

}  // namespace kiln::builder

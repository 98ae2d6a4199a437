// SPDX-License-Identifier: Apache-2.0
// Searches a size with the largest of a kernel's recorded launches, and tries it with the other
// launches.
#include "builder/tune/measure_recorded.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "builder/process/fork_call.hpp"
#include "builder/run/pack_on_device.hpp"
#include "builder/run/repeated_launch.hpp"
#include "builder/tune/search_plan.hpp"
#include "runtime/launch/enqueue.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

constexpr NDSize kDriverChooses{0, 0, 0};
constexpr std::chrono::milliseconds kMaxOnPattern{20'000};  // memory may decide when loops end

// The program, loaded on its device, with a queue that has a clock.
struct LoadedLaunches {
  PackOnDevice opened;
  std::optional<kiln::Loaded> loaded;
  runtime::Handle<cl_command_queue> queue;

  Status open(const TuneLaunchesRequest &job) {
    if (Status s = opened.open(*job.device, job.pack_path); !s.ok()) return s;
    loaded.emplace(opened.loader.load(job.program, job.variant));
    if (Status s = status_of(loaded->program.error()); !s.ok()) return s;
    const runtime::OpenCL &cl = opened.cl();
    if (cl.clEnqueueFillBuffer == nullptr) return {Code::requirement, "there is no fill command"};
    cl_int code = CL_SUCCESS;
    queue = {cl.clCreateCommandQueue(context(), device().id, CL_QUEUE_PROFILING_ENABLE, &code),
             cl.clReleaseCommandQueue};
    if (code != CL_SUCCESS) return runtime::cl_failure("clCreateCommandQueue", code);
    bool executes = false;
    if (Status s = ask_executes(device(), context(), queue.get(), &executes); !s.ok()) return s;
    if (executes) return {};
    return {Code::failed, "this device cannot execute kernels here"};
  }

  const runtime::Device &device() const { return *opened.child.device; }
  cl_context context() const { return opened.child.context.get(); }

  Status prepare(const RecordedLaunch &launch, std::optional<RepeatedLaunch> *out) {
    out->emplace(device(), context(), queue.get());
    return (*out)->prepare(loaded->program->cl(), launch);
  }
};

Status hash_after(RepeatedLaunch *again, MemoryContent content, const NDSize &local,
                  std::uint64_t *out) {
  RepeatTimes ignored;
  Status status = again->fill(content);
  if (status.ok()) status = again->launch(local, &ignored);
  return status.ok() ? again->hash(out) : status;
}

// Sets `*why_not` if the sizes must not be used. Skips sizes that the driver refuses. Fails if a
// launch with the driver's size fails.
Status compare(RepeatedLaunch *again, MemoryContent content, const std::vector<NDSize> &sizes,
               std::string *why_not) {
  std::uint64_t once = 0;
  std::uint64_t twice = 0;
  Status status = hash_after(again, content, kDriverChooses, &once);
  if (status.ok()) status = hash_after(again, content, kDriverChooses, &twice);
  if (!status.ok()) return status;
  if (once != twice) *why_not = "what it computes is not the same at each launch";
  for (const NDSize &local : sizes) {
    std::uint64_t other = 0;
    if (!why_not->empty() || !hash_after(again, content, local, &other).ok()) continue;
    if (other != once) {
      *why_not = "it does not compute the same with groups of " + local_text(local);
    }
  }
  return {};
}

// Runs in a child process.
class LaunchTuner {
 public:
  LaunchTuner(LoadedLaunches &loaded, const UnsizedLaunches &work, double seconds,
              TunedLaunch *result)
      : loaded_(loaded), work_(work), seconds_(seconds), result_(*result) {}

  void tune() {
    Status status = prepare();
    if (status.ok()) status = warm_up();
    if (status.ok()) status = check(&*largest_, extremes());
    if (status.ok()) status = search();
    for (std::size_t i = 0; i < work_.launches.size() && status.ok(); ++i) status = judge(i);
    if (status.ok()) return;
    result_.reason = std::move(status.message);
    if (result_.end == LaunchEnd::better) result_.end = LaunchEnd::without_times;
  }

 private:
  TunedKernel &kernel() { return result_.kernel; }

  double spent() const {
    return std::chrono::duration<double>(SteadyClock::now() - start_).count() / seconds_;
  }

  // Sets the result's end and fails.
  Status end(LaunchEnd end, std::string why) {
    result_.end = end;
    return {Code::failed, std::move(why)};
  }

  Status prepare() {
    result_.end = LaunchEnd::better;  // unless it turns out otherwise
    if (Status s = loaded_.prepare(work_.launches[0], &largest_); !s.ok()) return s;
    const WorkGroupLimits limits = runtime::query_limits(loaded_.device(), largest_->kernel());
    kernel().required = limits.required[0] != 0;
    if (kernel().required) return {Code::failed, "it has a required size"};
    std::vector<NDSize> ranges;
    for (const RecordedLaunch &launch : work_.launches) ranges.push_back(launch.global);
    candidates_ = even_candidates(work_.launches[0].dimensions, ranges, limits);
    kernel().candidates = candidates_.size();
    if (candidates_ != std::vector<NDSize>{{1, 1, 1}}) return {};
    return {Code::failed, "no work-group size divides its ranges"};
  }

  Status warm_up() {
    RepeatTimes times;
    if (Status s = largest_->launch(kDriverChooses, &times); !s.ok()) return s;
    std::vector<Clocked> clocks;
    for (int i = 0; i < 2; ++i) {
      if (Status s = largest_->launch(kDriverChooses, &times); !s.ok()) return s;
      const double host = times.milliseconds * 1e6;
      clocks.push_back({{times.device}, host});
      if (host < kSlowest && host * kMinLaunches < 2e9 * seconds_) continue;
      return {Code::failed, fmt::format("a launch takes {:.3f} s, too long to be tuned {}",
                                        host / 1e9, host < kSlowest ? "in this time" : "at all")};
    }
    device_clock_ = clock_makes_sense(clocks);
    result_.timer = device_clock_ ? "device" : "wall";
    return {};
  }

  std::vector<NDSize> extremes() const {
    const auto items = [](const NDSize &size) { return size[0] * size[1] * size[2]; };
    const auto [least, most] =
        std::minmax_element(candidates_.begin(), candidates_.end(),
                            [&](const NDSize &a, const NDSize &b) { return items(a) < items(b); });
    return {*least, *most};
  }

  Status check(RepeatedLaunch *again, const std::vector<NDSize> &sizes) {
    std::string why_not;
    if (Status s = compare(again, MemoryContent::zeros, sizes, &why_not); !s.ok()) return s;
    return why_not.empty() ? Status() : end(LaunchEnd::refused, std::move(why_not));
  }

  Status time(RepeatedLaunch *again, const NDSize &local, double *nanoseconds) const {
    RepeatTimes times;
    const Status status = again->launch(local, &times);
    const auto [start, stop] = times.device;
    *nanoseconds = device_clock_ && stop > start ? static_cast<double>(stop - start)
                                                 : times.milliseconds * 1e6;
    return status;
  }

  Status search() {
    Search search(candidates_, extremes());
    std::size_t failures = 0;
    while (const auto local = search.next()) {
      const bool seeded = !search.ranking().empty();
      if ((seeded && spent() > 0.6) || failures == kFailures) {
        kernel().finished = false;
        break;
      }
      const double time = measure(*local, search.best());
      failures = std::isfinite(time) ? 0 : failures + 1;
      search.record_time(*local, time);
    }
    std::vector<NDSize> finalists = search.ranking();
    if (finalists.empty()) return {Code::failed, "the driver takes none of the sizes"};
    if (finalists.size() > kFinalists) finalists.resize(kFinalists);
    choose(finalists);
    return {};
  }

  // Returns the median; infinity after a failure, which is recorded.
  double measure(const NDSize &local, double best) {
    Sampler sampler(kSearchRule);
    double one = 0;
    Status status = time(&*largest_, local, &one);  // drivers compile now
    while (status.ok() && !sampler.enough() && !clearly_slower(sampler.statistics(), best)) {
      status = time(&*largest_, local, &one);
      if (status.ok()) sampler.add(one);
    }
    if (!status.ok()) {
      kernel().skipped.push_back({local, std::move(status.message)});
      return std::numeric_limits<double>::infinity();
    }
    kernel().points.push_back({local, sampler.statistics().median});
    return sampler.statistics().median;
  }

  // Measures the sizes in turns, until the precision is reached or this part of the time is over.
  // Uses one sampler for each size.
  Status take_turns(RepeatedLaunch *again, const std::vector<NDSize> &sizes, double until,
                    std::vector<Sampler> *samplers) const {
    samplers->assign(sizes.size(), Sampler(kFinalRule));
    double one = 0;
    for (const NDSize &local : sizes) {  // untimed, because other sizes were launched in between
      if (Status s = time(again, local, &one); !s.ok()) return s;
    }
    const auto enough = [](const Sampler &sampler) { return sampler.enough(); };
    for (std::size_t round = 0; !std::all_of(samplers->begin(), samplers->end(), enough); ++round) {
      if (round >= kFinalRule.least && spent() > until) break;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (Status s = time(again, sizes[i], &one); !s.ok()) return s;
        (*samplers)[i].add(one);
      }
    }
    return {};
  }

  void choose(const std::vector<NDSize> &finalists) {
    kernel().local = finalists.front();
    std::vector<Sampler> samplers;
    if (finalists.size() == 1 || !take_turns(&*largest_, finalists, 0.7, &samplers).ok()) return;
    const auto fastest =
        std::min_element(samplers.begin(), samplers.end(), [](const Sampler &a, const Sampler &b) {
          return a.statistics().median < b.statistics().median;
        });
    kernel().local = finalists[static_cast<std::size_t>(fastest - samplers.begin())];
  }

  // Checks that the best size gives the right result and is faster in this launch, too.
  Status judge(std::size_t i) {
    std::optional<RepeatedLaunch> made;
    if (i != 0) {
      if (Status s = loaded_.prepare(work_.launches[i], &made); !s.ok()) return s;
    }
    RepeatedLaunch *again = i == 0 ? &*largest_ : &*made;
    if (Status s = check(again, {kernel().local}); !s.ok()) return s;
    const auto share = static_cast<double>(i + 1) / static_cast<double>(work_.launches.size());
    std::vector<Sampler> samplers;
    Status status =
        take_turns(again, {kernel().local, kDriverChooses}, 0.7 + 0.3 * share, &samplers);
    if (!status.ok()) return status;
    const Statistics best = samplers[0].statistics();
    const Statistics driver = samplers[1].statistics();
    if (i == 0) {
      kernel().nanoseconds = best.median;
      kernel().default_nanoseconds = driver.median;
      kernel().samples = best.samples;
      kernel().spread = best.spread;
      largest_.reset();
    }
    if (clearly_slower(driver, best.median)) return {};
    return end(LaunchEnd::as_good, i == 0 ? "no size is clearly faster than the driver's"
                                          : "none is clearly faster in all of its launches");
  }

  LoadedLaunches &loaded_;
  const UnsizedLaunches &work_;
  const SteadyClock::time_point start_ = SteadyClock::now();
  double seconds_;
  TunedLaunch &result_;
  std::optional<RepeatedLaunch> largest_;
  std::vector<NDSize> candidates_;
  bool device_clock_ = false;
};

json tune_in_child(const TuneLaunchesRequest &job, TunedLaunch result) {
  LoadedLaunches loaded;
  if (Status s = loaded.open(job); !s.ok()) {
    result.reason = std::move(s.message);
  } else {
    LaunchTuner(loaded, *job.work, job.seconds, &result).tune();
  }
  return to_json(result);
}

// Returns {"differs"} with a reason, {} if nothing differs, or a failed status.
json compare_in_child(const TuneLaunchesRequest &job, const NDSize &local) {
  LoadedLaunches loaded;
  if (Status s = loaded.open(job); !s.ok()) return to_json(s);
  for (const RecordedLaunch &launch : job.work->launches) {
    std::optional<RepeatedLaunch> again;
    std::string why_not;
    Status status = loaded.prepare(launch, &again);
    if (status.ok()) status = compare(&*again, MemoryContent::pattern, {local}, &why_not);
    if (!status.ok()) return to_json(status);
    if (!why_not.empty()) return {{"differs", why_not}};
  }
  return json::object();
}

}  // namespace

TunedLaunch tune_launches(const TuneLaunchesRequest &job) {
  TunedLaunch result;
  result.program = job.program;
  result.variant = job.variant;
  result.size_class = job.work->size_class;
  result.launches = job.work->launches.size();
  result.global = job.work->launches[0].global;
  result.kernel.kernel = job.work->kernel;
  result.kernel.work_items = work_items(job.work->launches[0]);
  result.end = LaunchEnd::without_times;
  const auto part = std::chrono::milliseconds(static_cast<long>(job.seconds * 1000));
  const ChildResult child =
      fork_call([&] { return tune_in_child(job, result); }, part + job.timeout);
  if (!child.ok()) {
    const bool started = child.end != ProcessEnd::not_started;
    if (started) result.end = LaunchEnd::refused;
    result.reason = (started ? "it ends the process on zeros: " : "") + child.reason();
    return result;
  }
  result = tuned_launch_from(child.answer);
  if (result.end != LaunchEnd::better) return result;
  const ChildResult compared = fork_call([&] { return compare_in_child(job, result.kernel.local); },
                                         std::min(job.timeout, kMaxOnPattern));
  result.compared_on_pattern = compared.status().ok();
  if (compared.ok() && compared.answer.contains("differs")) {
    result.end = LaunchEnd::refused;
    result.reason = compared.answer["differs"];
  }
  return result;
}

}  // namespace kiln::builder

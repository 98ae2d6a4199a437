// SPDX-License-Identifier: Apache-2.0
// Searches work-group sizes in a child process, after a first launch gave the right result.
#include "builder/tune/measure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "builder/process/fork_call.hpp"
#include "builder/run/pack_on_device.hpp"
#include "builder/run/session.hpp"
#include "builder/tune/search_plan.hpp"
#include "runtime/launch/enqueue.hpp"
#include "runtime/launch/suggestion.hpp"
#include "runtime/launch/work_group.hpp"
#include "runtime/load/tuning.hpp"

namespace kiln::builder {

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::uint8_t kUntouched = 0xa5;  // content of the outputs before the checked launch
constexpr double kFarBehind = 2;           // times slower than the fastest: no size makes up for it

template <typename T>
T device_fact(const runtime::OpenCL &cl, cl_device_id device, cl_device_info what) {
  T value{};
  return cl.clGetDeviceInfo(device, what, sizeof(T), &value, nullptr) == CL_SUCCESS ? value : T{};
}

Clocked clocked(const Launched &launched) {
  Clocked result;
  result.host = launched.host_nanoseconds;
  for (const kiln_times &t : launched.times) result.stages.push_back({t.start, t.end});
  return result;
}

// The variant, loaded on its device.
struct LoadedVariant {
  PackOnDevice opened;
  const packs::Program *program = nullptr;
  const packs::Variant *variant = nullptr;
  std::optional<kiln::Loaded> loaded;

  Status open(const TuneRequest &job) {
    if (Status s = opened.open(*job.device, job.pack_path); !s.ok()) return s;
    const auto found = opened.find(job.program, job.variant);
    if (!found.ok()) return found.status();
    program = found->program;
    variant = found->variant;
    loaded.emplace(opened.loader.load(job.program, job.variant));
    return status_of(loaded->program.error());
  }
};

// Changes the seeds and drops candidates so that all obey the variant's rules for launches. Fails
// with Code::bad_argument if no work-group does.
Status keep_rules(const packs::Variant &variant, const runtime::WorkGroupLimits &limits,
                  std::vector<NDSize> *seeds, std::vector<NDSize> *candidates) {
  const auto rules = runtime::launch_rules(variant.requirements);
  for (NDSize &local : *seeds) {
    Status status = runtime::apply_multiple(rules, limits, false, &local);
    if (!status.ok()) return status;
  }
  std::erase_if(*candidates,
                [&](const NDSize &local) { return !runtime::divides(rules.multiple, local); });
  return {};
}

// Tunes the variant for one problem size.
class Tuner {
 public:
  Tuner(LoadedVariant &loaded, const TuneWork &work, double seconds)
      : opened_(loaded.opened),
        loaded_(loaded),
        work_(work),
        seconds_(seconds),
        session_(opened_.cl(), opened_.loader, opened_.queue) {
    result_.variant = loaded.variant->name;
  }

  TunedVariant tune() {
    Status status = prepare();
    if (status.ok()) status = warm_up();
    for (std::size_t s = 0; s < stages() && status.ok(); ++s) search(s);
    if (status.ok()) status = compare_with_driver();
    if (status.ok()) status = check(best_, " with its best sizes");
    if (!status.ok()) {
      if (!result_.rejected()) result_.end = TuneEnd::without_times;
      result_.reason = std::move(status.message);
    }
    return std::move(result_);
  }

 private:
  std::size_t stages() const { return session_.workload().stages.size(); }

  // Returns the share of the time that has passed.
  double spent() const {
    return std::chrono::duration<double>(Clock::now() - start_).count() / seconds_;
  }

  Status prepare() {
    const packs::Variant &variant = *loaded_.variant;
    const auto workload = plan_workload(*loaded_.program, variant, work_.size, {});
    if (!workload.ok()) return workload.status();
    Status status = session_.load(*loaded_.loaded->program, variant);
    if (status.ok()) status = session_.bind(*workload);
    if (status.ok()) status = session_.upload(*work_.inputs);
    if (!status.ok()) return status;
    for (std::size_t s = 0; s < stages() && status.ok(); ++s) status = add_stage(variant, s);
    return status;
  }

  // Adds the search of one stage, which starts from the size that the runtime would use without a
  // measurement.
  Status add_stage(const packs::Variant &variant, std::size_t s) {
    const Stage &stage = session_.workload().stages[s];
    const cl_kernel opencl = session_.kernels()[s].cl();
    const WorkGroupLimits limits = runtime::query_limits(*opened_.child.device, opencl);
    const Seeds seeds = find_seeds(opened_, opencl, variant, stage, limits);
    std::vector<NDSize> first = seeds.sizes();
    auto candidates = work_group_candidates(stage.dimensions, stage.global, limits);
    if (Status e = keep_rules(variant, limits, &first, &candidates); !e.ok()) return e;
    searches_.emplace_back(std::move(candidates), first);
    best_.push_back(first.front());
    TunedKernel kernel;
    kernel.kernel = stage.kernel;
    kernel.work_items = std::uint64_t{stage.global[0]} * stage.global[1] * stage.global[2];
    kernel.required = limits.required[0] != 0;
    kernel.candidates = searches_.back().candidates().size();
    if (!seeds.refused.empty()) kernel.skipped.push_back({seeds.refused_local, seeds.refused});
    result_.kernels.push_back(std::move(kernel));
    return {};
  }

  // Makes the first launches: checks the result and whether the variant is fast enough to be
  // searched, and chooses the clock.
  Status warm_up() {
    if (Status s = check({}, ""); !s.ok()) return s;
    std::vector<Clocked> clocks;
    for (int i = 0; i < 2; ++i) {
      Launched launched;
      if (Status s = launch({}, &launched); !s.ok()) return s;
      clocks.push_back(clocked(launched));
      const double host = launched.host_nanoseconds;
      if (host < kSlowest && host * kMinLaunches < 2e9 * seconds_) continue;
      return {Code::failed,
              fmt::format("too slow to be tuned at this size {}: a launch takes {:.3f} s",
                          host < kSlowest ? "in this time" : "at all", host / 1e9)};
    }
    device_clock_ = clock_makes_sense(clocks);
    result_.timer = device_clock_ ? "device" : "wall";
    return {};
  }

  // Launches with the sizes. No sizes mean local_work_size = NULL, or the first sizes of the search
  // if the driver refuses NULL.
  Status launch(const std::vector<NDSize> &local, Launched *out) {
    if (!local.empty()) return session_.launch(local, out);
    if (driver_chooses_) {
      if (session_.launch_as_driver(out).ok()) return {};
      driver_chooses_ = false;
    }
    return session_.launch(best_, out);
  }

  // Fails if the launch fails, or if its result is wrong, which rejects the variant.
  Status check(const std::vector<NDSize> &local, const std::string &when) {
    Launched launched;
    Status status = session_.fill_outputs(kUntouched);
    if (status.ok()) status = launch(local, &launched);
    std::vector<Plane> outputs;
    if (status.ok()) status = session_.download(program_shape(*loaded_.program), &outputs);
    if (!status.ok()) return status;
    result_.check = compare_outputs(outputs, *work_.expected, loaded_.variant->tolerance).check;
    if (result_.check != Check::wrong) return {};
    result_.end = TuneEnd::rejected;
    return {Code::failed, "the result is wrong" + when + ": not tuned"};
  }

  // Returns the time of one kernel by the device's clock, or of all kernels by the host's.
  double time_of(const Launched &launched, std::size_t stage) const {
    if (!device_clock_) return launched.host_nanoseconds;
    const kiln_times &t = launched.times[stage];
    return t.end > t.start ? static_cast<double>(t.end - t.start) : launched.host_nanoseconds;
  }
  double time_of(const Launched &launched) const {
    const double device = device_clock_ ? launched.device_nanoseconds() : 0;
    return device > 0 ? device : launched.host_nanoseconds;
  }

  void search(std::size_t s) {
    Search &search = searches_[s];
    TunedKernel &kernel = result_.kernels[s];
    // The rest of 80% of the time is shared by the remaining stages.
    const double from = spent();
    const double until = from + std::max(0.8 - from, 0.0) / static_cast<double>(stages() - s);
    std::size_t failures = 0;
    while (const auto local = search.next()) {
      const bool seeded = !search.ranking().empty();
      if ((seeded && (spent() > until || far_behind(search))) || failures == kFailures) {
        kernel.finished = false;
        break;
      }
      const double time = measure(s, *local, search.best(), &kernel);
      failures = std::isfinite(time) ? 0 : failures + 1;
      search.record_time(*local, time);
    }
    choose(s, &kernel);
  }

  // Whether the first sizes of the only kernel leave no hope.
  bool far_behind(const Search &search) const {
    return work_.best > 0 && stages() == 1 && search.ranking().size() >= 2 &&
           search.best() > kFarBehind * work_.best;
  }

  // Returns the median; infinity after a failure, which is recorded.
  double measure(std::size_t s, const NDSize &local, double best, TunedKernel *kernel) {
    std::vector<NDSize> all = best_;
    all[s] = local;
    Sampler sampler(kSearchRule);
    Launched launched;
    Status status = session_.launch(all, &launched);  // drivers compile now
    while (status.ok() && !sampler.enough() && !clearly_slower(sampler.statistics(), best)) {
      status = session_.launch(all, &launched);
      if (status.ok()) sampler.add(time_of(launched, s));
    }
    if (!status.ok()) {
      kernel->skipped.push_back({local, std::move(status.message)});
      return std::numeric_limits<double>::infinity();
    }
    kernel->points.push_back({local, sampler.statistics().median});
    return sampler.statistics().median;
  }

  // Chooses the best size. The fastest of many is partly luck, so the first few are measured again,
  // in turns.
  void choose(std::size_t s, TunedKernel *kernel) {
    std::vector<NDSize> finalists = searches_[s].ranking();
    if (finalists.empty()) return;
    best_[s] = finalists.front();
    if (finalists.size() > kFinalists) {
      finalists.erase(finalists.begin() + kFinalists, finalists.end());
    }
    if (finalists.size() == 1) return;
    std::vector<Sampler> samplers(finalists.size(), Sampler(kFinalRule));
    const double until =
        spent() + 0.4 * std::max(1 - spent(), 0.0) / static_cast<double>(stages() - s);
    for (bool more = true; more && spent() < until;) {
      more = false;
      for (std::size_t i = 0; i < finalists.size(); ++i) {
        std::vector<NDSize> all = best_;
        all[s] = finalists[i];
        Launched launched;
        if (!session_.launch(all, &launched).ok()) return;
        samplers[i].add(time_of(launched, s));
        more = more || !samplers[i].enough();
      }
    }
    std::size_t fastest = 0;
    for (std::size_t i = 0; i < finalists.size(); ++i) {
      const Statistics statistics = samplers[i].statistics();
      if (statistics.samples < kFinalRule.least) return;
      if (statistics.median < samplers[fastest].statistics().median) fastest = i;
      for (TunedPoint &point : kernel->points) {
        if (point.local == finalists[i]) point.nanoseconds = statistics.median;
      }
    }
    best_[s] = finalists[fastest];
  }

  struct Figures {
    Sampler all{kFinalRule};
    std::vector<Sampler> of_stage;
  };

  Status sample(const std::vector<NDSize> &local, Figures *figures) {
    Launched launched;
    if (Status s = launch(local, &launched); !s.ok()) return s;
    figures->all.add(time_of(launched));
    for (std::size_t s = 0; s < stages(); ++s) figures->of_stage[s].add(time_of(launched, s));
    return {};
  }

  // Measures the best sizes and the driver's in turns. The best are kept even if the driver's are
  // faster, which the runtime never launches: its own first guess is among those that were
  // measured.
  Status compare_with_driver() {
    Figures tuned{Sampler(kFinalRule), std::vector<Sampler>(stages(), Sampler(kFinalRule))};
    Figures driver = tuned;
    // Untimed, because the search launched other sizes in between.
    Launched warm;
    if (Status s = launch({}, &warm); !s.ok()) return s;
    if (Status s = launch(best_, &warm); !s.ok()) return s;
    for (std::size_t round = 0; !tuned.all.enough() || !driver.all.enough(); ++round) {
      if (round >= kFinalRule.least && spent() > 1) break;
      Status status = sample(best_, &tuned);
      if (status.ok()) status = sample({}, &driver);
      if (!status.ok()) return status;
    }
    const Statistics statistics = tuned.all.statistics();
    result_.nanoseconds = statistics.median;
    result_.samples = statistics.samples;
    result_.spread = statistics.spread;
    result_.default_nanoseconds = driver_chooses_ ? driver.all.statistics().median : 0;
    for (std::size_t s = 0; s < stages(); ++s) {
      const Statistics of_kernel = tuned.of_stage[s].statistics();
      TunedKernel &kernel = result_.kernels[s];
      kernel.local = best_[s];
      kernel.nanoseconds = of_kernel.median;
      kernel.samples = of_kernel.samples;
      kernel.spread = of_kernel.spread;
      kernel.default_nanoseconds = driver_chooses_ ? driver.of_stage[s].statistics().median : 0;
    }
    return {};
  }

  const PackOnDevice &opened_;
  LoadedVariant &loaded_;
  const TuneWork &work_;
  const Clock::time_point start_ = Clock::now();
  double seconds_;
  Session session_;
  TunedVariant result_;
  std::vector<Search> searches_;  // one for each stage
  std::vector<NDSize> best_;      // the best sizes so far
  bool driver_chooses_ = true;    // the driver accepts launches without a work-group size
  bool device_clock_ = false;
};

// Runs in the child: returns a TunedVariant for each size, or null if the budget was used up.
json tune_in_child(const TuneRequest &job) {
  LoadedVariant loaded;
  Status status = loaded.open(job);  // if it failed, the following sizes are not tried
  json answer = json::array();
  Budget budget(job.seconds, job.works.size());
  for (const TuneWork &work : job.works) {
    const auto start = Clock::now();
    if (!status.ok()) {
      TunedVariant tuned;
      tuned.variant = job.variant;
      tuned.end = TuneEnd::without_times;
      tuned.reason = status.message;
      answer.push_back(to_json(tuned));
    } else if (budget.share() == 0) {
      answer.push_back(nullptr);
    } else {
      const TunedVariant tuned = Tuner(loaded, work, budget.share()).tune();
      if (tuned.rejected()) {
        status = {Code::failed,
                  fmt::format("rejected at {}: {}", size_text(work.size), tuned.reason)};
      }
      answer.push_back(to_json(tuned));
    }
    budget.spend(std::chrono::duration<double>(Clock::now() - start).count());
  }
  return answer;
}

TunedVariant died(const TuneRequest &job, const ChildResult &child) {
  TunedVariant result;
  result.variant = job.variant;
  const bool started = child.end != ProcessEnd::not_started;
  result.end = started ? TuneEnd::rejected : TuneEnd::without_times;
  result.reason = (started ? "the driver died: " : "") + child.reason();
  return result;
}

// Returns the size that the driver chooses for this range and a kernel that only writes it down;
// zeros if it writes nothing.
NDSize driver_size(const PackOnDevice &opened, const Stage &stage) {
  constexpr char kSource[] =
      "kernel void kiln_driver_size(global uint *size) {\n"
      "  if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0)\n"
      "    for (uint i = 0; i < 3; ++i) size[i] = get_local_size(i);\n"
      "}\n";
  const runtime::OpenCL &cl = opened.cl();
  const cl_context context = opened.loader.context();
  const cl_device_id device = opened.child.device->id;
  std::array<cl_uint, 3> size{};
  const char *source = kSource;
  cl_int code = CL_SUCCESS;
  const runtime::Handle<cl_program> program(
      cl.clCreateProgramWithSource(context, 1, &source, nullptr, &code), cl.clReleaseProgram);
  if (!program || cl.clBuildProgram(program.get(), 1, &device, "", nullptr, nullptr) != CL_SUCCESS)
    return {0, 0, 0};
  const runtime::Handle<cl_kernel> kernel(
      cl.clCreateKernel(program.get(), "kiln_driver_size", &code), cl.clReleaseKernel);
  const runtime::Handle<cl_mem> memory(
      cl.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(size),
                        size.data(), &code),
      cl.clReleaseMemObject);
  const cl_mem argument = memory.get();
  if (!kernel || !memory ||
      cl.clSetKernelArg(kernel.get(), 0, sizeof(argument), &argument) != CL_SUCCESS ||
      cl.clEnqueueNDRangeKernel(opened.queue.cl(), kernel.get(), stage.dimensions, nullptr,
                                stage.global.data(), nullptr, 0, nullptr, nullptr) != CL_SUCCESS)
    return {0, 0, 0};
  void *mapped = cl.clEnqueueMapBuffer(opened.queue.cl(), argument, CL_TRUE, CL_MAP_READ, 0,
                                       sizeof(size), 0, nullptr, nullptr, &code);
  if (mapped == nullptr) return {0, 0, 0};
  std::memcpy(size.data(), mapped, sizeof(size));
  cl.clEnqueueUnmapMemObject(opened.queue.cl(), argument, mapped, 0, nullptr, nullptr);
  cl.clFinish(opened.queue.cl());
  return {size[0], size[1], size[2]};
}

}  // namespace

std::vector<NDSize> Seeds::sizes() const {
  std::vector<NDSize> found;
  for (const NDSize &size : {own, suggested, guess, driver}) {
    const bool known = std::find(found.begin(), found.end(), size) != found.end();
    if (size[0] != 0 && !known) found.push_back(size);
  }
  return found;
}

Seeds find_seeds(const PackOnDevice &opened, cl_kernel kernel, const packs::Variant &variant,
                 const Stage &stage, const runtime::WorkGroupLimits &limits) {
  Seeds seeds;
  seeds.guess = runtime::fit_local_size(stage.global, {0, 0, 0}, limits);
  if (limits.required[0] != 0) return seeds;
  NDSize own{variant.local_size[0], variant.local_size[1], variant.local_size[2]};
  for (unsigned i = stage.dimensions; i < 3; ++i) own[i] = 1;
  if (own[0] != 0) seeds.own = runtime::fit_local_size(stage.global, own, limits);
  const auto suggest = runtime::suggest_function(*opened.child.device);
  if (suggest == nullptr) {
    const NDSize chosen = driver_size(opened, stage);
    const bool fits =
        chosen[0] != 0 && runtime::fit_local_size(stage.global, chosen, limits) == chosen;
    if (fits) seeds.driver = chosen;
    return seeds;
  }
  NDSize local{0, 0, 0};
  Status asked = runtime::ask_suggestion(
      suggest, {opened.queue.cl(), kernel, stage.dimensions, stage.global}, limits, &local);
  (asked.ok() ? seeds.suggested : seeds.refused_local) = local;
  seeds.refused = std::move(asked.message);
  return seeds;
}

std::vector<TunedVariant> tune_variant(const TuneRequest &job) {
  const auto part = std::chrono::milliseconds(static_cast<long>(job.seconds * 1000));
  const ChildResult child = fork_call([&] { return tune_in_child(job); }, part + job.timeout);
  std::vector<TunedVariant> results;
  for (std::size_t i = 0; i < job.works.size(); ++i) {
    if (!child.ok()) {
      results.push_back(died(job, child));
    } else if (child.answer[i].is_null()) {
      results.push_back(used_up(job.variant));
    } else {
      results.push_back(tuned_variant_from(child.answer[i]));
    }
  }
  return results;
}

Result<DeviceMemory> ask_memory(const DeviceInfo &device) {
  const ChildResult child = fork_call(
      [&]() -> json {
        OpenedDevice opened;
        if (const Status s = opened.open(device); !s.ok()) return to_json(s);
        const runtime::OpenCL &cl = *opened.device->cl;
        const cl_device_id id = opened.device->id;
        return {{"type", device_fact<cl_device_type>(cl, id, CL_DEVICE_TYPE)},
                {"all", device_fact<cl_ulong>(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE)},
                {"greatest", device_fact<cl_ulong>(cl, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE)}};
      },
      std::chrono::seconds(60));
  if (Status s = child.status(); !s.ok()) return s;
  DeviceMemory memory;
  memory.is_cpu = (child.answer["type"].get<cl_device_type>() & CL_DEVICE_TYPE_CPU) != 0;
  memory.all = child.answer["all"];
  memory.greatest = child.answer["greatest"];
  return memory;
}

}  // namespace kiln::builder

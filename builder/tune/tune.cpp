// SPDX-License-Identifier: Apache-2.0
// Goes through the programs, sizes and variants of one device, within its memory and the given
// time.
#include "builder/tune/tune.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "builder/run/workload.hpp"
#include "builder/tune/measure.hpp"
#include "builder/tune/measure_recorded.hpp"
#include "builder/tune/search_plan.hpp"

namespace kiln::builder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kGibibyte = 1 << 30;

// A variant, and the places of its results.
struct Pending {
  const packs::Program *program;
  const packs::Variant *variant;
  std::vector<std::pair<std::size_t, std::size_t>> places;  // TunedDevice::sizes, their variants
};

// A kernel with recorded launches, and the place of its result.
struct PendingLaunches {
  UnsizedLaunches work;
  std::size_t place;  // index into TunedDevice::launches
};

// The planes for one size.
struct Planes {
  bool has_inputs = false;  // `inputs` were read; a program may have none
  std::vector<Plane> inputs;
  std::vector<Plane> expected;  // from the reference; empty if it has none
};

// Fails with Code::over_limit if the workload does not fit. A CPU uses the host's memory, which
// also holds the inputs, the outputs and the result of the reference.
Status check_fits(const Workload &workload, const DeviceMemory &memory) {
  std::uint64_t all = 0;
  for (const Memory &m : workload.memories) {
    all += m.bytes();
    if (memory.greatest != 0 && m.storage == Storage::buffer && m.bytes() > memory.greatest) {
      return {Code::over_limit,
              fmt::format("needs a buffer of {:.2f} GiB; the device allows {:.2f}",
                          static_cast<double>(m.bytes()) / kGibibyte,
                          static_cast<double>(memory.greatest) / kGibibyte)};
    }
  }
  const std::uint64_t allowed = memory.is_cpu ? memory.all / 4 : memory.all / 10 * 9;
  if (memory.all == 0 || all <= allowed) return {};
  return {Code::over_limit, fmt::format("needs {:.2f} GiB of memory; {:.2f} may be used",
                                        static_cast<double>(all) / kGibibyte,
                                        static_cast<double>(allowed) / kGibibyte)};
}

class Tuning {
 public:
  Tuning(const DeviceInfo &device, const TuneOptions &options) : options_(options) {
    result_.device = device;
  }

  TunedDevice run(const packs::Contents &contents, const TuneProgress &progress) {
    contents_ = &contents;
    result_.status = ask_memory(result_.device).move_to(&memory_);
    if (!result_.status.ok()) return std::move(result_);
    for (const packs::Program &program : contents.programs) {
      const auto &wanted = options_.programs;
      const bool chosen =
          wanted.empty() || std::find(wanted.begin(), wanted.end(), program.name) != wanted.end();
      if (chosen) result_.status = add_program(program);
      if (!result_.status.ok()) break;
    }
    if (result_.status.ok()) result_.status = measure(progress);
    if (!result_.status.ok()) result_.sizes.clear();
    return std::move(result_);
  }

 private:
  Status add_program(const packs::Program &program) {
    Status found = Reference::find(program, options_.pack_path, options_.reference)
                       .move_to(&references_[&program]);
    if (!found.ok()) return found;
    std::vector<ProblemSize> sizes = options_.sizes;
    if (sizes.empty()) {
      for (const auto &s : program.sizes) sizes.push_back({s[0], s[1], s[2]});
      sizes = tuning_sizes(sizes, memory_.is_cpu ? kMaxOnCpu : ~std::uint64_t{0});
    }
    std::stable_sort(sizes.begin(), sizes.end(), [](const ProblemSize &a, const ProblemSize &b) {
      return a.elements() < b.elements();
    });
    std::vector<const packs::Variant *> variants;
    for (const packs::Variant &variant : program.variants) {
      result_.variant_hashes[{program.name, variant.name}] = variant.hash;
      if (!options_.variant.empty() && variant.name != options_.variant) continue;
      if (variant.launches) {
        add_launches(program, variant);
      } else {
        variants.push_back(&variant);
      }
    }
    if (variants.empty()) return {};
    const std::size_t first = result_.sizes.size();
    const std::size_t first_pending = pending_.size();
    for (const ProblemSize &size : sizes) {
      result_.sizes.push_back({program.name, size, std::vector<TunedVariant>(variants.size())});
    }
    for (std::size_t v = 0; v < variants.size(); ++v) {
      Pending pending{&program, variants[v], {}};
      for (std::size_t s = result_.sizes.size(); s-- > first;) {  // the largest counts most
        TunedVariant &out = result_.sizes[s].variants[v];
        out.variant = variants[v]->name;
        if (Status e = check(program, *variants[v], result_.sizes[s].size); !e.ok()) {
          out.end = TuneEnd::without_times;
          out.reason = std::move(e.message);
        } else {
          pending.places.emplace_back(s, v);
        }
      }
      if (!pending.places.empty()) pending_.push_back(std::move(pending));
    }
    // Preferred variants are likely to be fast, which shortens the search of the others.
    std::stable_sort(pending_.begin() + static_cast<std::ptrdiff_t>(first_pending), pending_.end(),
                     [&](const Pending &a, const Pending &b) {
                       return preference(program, *a.variant) < preference(program, *b.variant);
                     });
    return {};
  }

  // Adds an application's kernels, which Kiln launches as they were recorded.
  void add_launches(const packs::Program &program, const packs::Variant &variant) {
    TunedLaunch found;
    found.program = program.name;
    found.variant = variant.name;
    Status status = runtime::check_requirements(variant.requirements, result_.device.capabilities);
    std::vector<RecordedLaunch> recorded;
    if (status.ok()) status = recorded_launches(variant).move_to(&recorded);
    std::vector<UnsizedLaunches> works = unsized_launches(recorded);
    if (status.ok() && works.empty()) {
      status = {Code::failed, "no recorded launch leaves the work-group size to the driver"};
    }
    if (!status.ok()) {
      found.reason = std::move(status.message);
      result_.launches.push_back(std::move(found));
      return;
    }
    for (UnsizedLaunches &work : works) {
      found.kernel.kernel = work.kernel;
      found.size_class = work.size_class;
      pending_launches_.push_back({std::move(work), result_.launches.size()});
      result_.launches.push_back(found);
    }
  }

  // Checks that the device can run the variant at this size.
  Status check(const packs::Program &program, const packs::Variant &variant,
               const ProblemSize &size) const {
    Status status = runtime::check_requirements(variant.requirements, result_.device.capabilities);
    if (status.ok()) {
      status = check_proven(*contents_, result_.device.description.key.text(), variant);
    }
    if (!status.ok()) return status;
    const auto workload = plan_workload(program, variant, size, {});
    return workload.ok() ? check_fits(*workload, memory_) : workload.status();
  }

  Status measure(const TuneProgress &progress) {
    Budget budget(options_.budget_seconds, pending_.size() + pending_launches_.size());
    double overrun = 0;  // seconds by which the last variant exceeded its time
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const Pending &p = pending_[i];
      if (progress) {
        progress(
            fmt::format("{}/{} on {}", p.program->name, p.variant->name, result_.device.label()), i,
            pending_.size() + pending_launches_.size());
      }
      const double share = budget.share();
      const double asked = std::max(share - overrun, share / 4);
      TuneRequest job;
      if (share > 0) {
        if (Status s = job_of(p, asked).move_to(&job); !s.ok()) return s;
      }
      const auto start = Clock::now();
      bool died = false;
      std::vector<TunedVariant> results;
      if (share > 0) results = tune_variant(job);
      for (std::size_t w = 0; w < p.places.size(); ++w) {
        TunedVariant &out = result_.sizes[p.places[w].first].variants[p.places[w].second];
        out = share > 0 ? std::move(results[w]) : used_up(p.variant->name);
        died = died || out.rejected();
      }
      // Time that a driver hangs is not taken from the other variants.
      const std::chrono::duration<double> taken = Clock::now() - start;
      if (!died) overrun = std::max(taken.count() - asked, 0.0);
      budget.spend(died ? std::min(taken.count(), share) : taken.count());
    }
    measure_launches(progress, &budget);
    return {};
  }

  void measure_launches(const TuneProgress &progress, Budget *budget) {
    for (std::size_t i = 0; i < pending_launches_.size(); ++i) {
      const PendingLaunches &p = pending_launches_[i];
      TunedLaunch &out = result_.launches[p.place];
      if (progress) {
        progress(fmt::format("{} of {} on {}", p.work.kernel, out.program, result_.device.label()),
                 pending_.size() + i, pending_.size() + pending_launches_.size());
      }
      const auto start = Clock::now();
      const double share = budget->share();
      if (share > 0) {
        out = tune_launches({&result_.device, options_.pack_path, out.program, out.variant, &p.work,
                             share, options_.timeout});
      } else {
        out.end = LaunchEnd::used_up;
        out.reason = kUsedUp;
      }
      // As for a variant, time that a driver hangs is not taken from the other kernels.
      const std::chrono::duration<double> taken = Clock::now() - start;
      budget->spend(out.end == LaunchEnd::refused ? std::min(taken.count(), share) : taken.count());
    }
  }

  Result<TuneRequest> job_of(const Pending &p, double seconds) {
    TuneRequest job;
    job.device = &result_.device;
    job.pack_path = options_.pack_path;
    job.program = p.program->name;
    job.variant = p.variant->name;
    for (const auto &[size, variant] : p.places) {
      const auto planes = planes_for(p, result_.sizes[size].size, size);
      if (!planes.ok()) return planes.status();
      const TunedVariant *best = result_.sizes[size].best();
      const bool checked = references_.at(p.program).covers(*p.variant, result_.sizes[size].size);
      job.works.push_back({result_.sizes[size].size, &(*planes)->inputs,
                           checked ? &(*planes)->expected : &nothing_,
                           best == nullptr ? 0 : best->nanoseconds});
    }
    job.seconds = seconds;
    job.timeout = options_.timeout;
    return job;
  }

  // Returns the inputs and the result of the reference. Keeps them, because most variants of a
  // program share them.
  Result<const Planes *> planes_for(const Pending &p, const ProblemSize &size, std::size_t index) {
    Parameters parameters = all_parameters(*p.variant, {});
    if (planes_of_ != p.program || parameters_ != parameters) planes_.clear();
    planes_of_ = p.program;
    parameters_ = std::move(parameters);
    const Reference &reference = references_.at(p.program);
    Planes &planes = planes_[index];
    Status status;
    if (!planes.has_inputs) status = reference.inputs(*p.program, size).move_to(&planes.inputs);
    planes.has_inputs = true;
    if (status.ok() && planes.expected.empty()) {
      status = reference.expected({*p.variant, size, planes.inputs, parameters_, &result_.device})
                   .move_to(&planes.expected);
    }
    if (!status.ok()) return status;
    return &planes;
  }

  const packs::Contents *contents_ = nullptr;
  const TuneOptions &options_;
  TunedDevice result_;
  DeviceMemory memory_;
  std::vector<Pending> pending_;
  std::vector<PendingLaunches> pending_launches_;
  std::map<const packs::Program *, Reference> references_;
  const std::vector<Plane> nothing_;
  const packs::Program *planes_of_ = nullptr;
  Parameters parameters_;
  std::map<std::size_t, Planes> planes_;  // by index in TunedDevice::sizes
};

}  // namespace

TunedDevice tune(const packs::Contents &contents, const DeviceInfo &device,
                 const TuneOptions &options, const TuneProgress &progress) {
  return Tuning(device, options).run(contents, progress);
}

}  // namespace kiln::builder

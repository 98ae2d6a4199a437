#include "tune.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "tune_measure.hpp"
#include "tune_plan.hpp"
#include "workload.hpp"

namespace kiln::builder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kGibibyte = 1 << 30;

// One variant at one size, as a place in the result.
struct Pending {
  const packs::Program *program;
  const packs::Variant *variant;
  std::size_t size;  // index in TunedDevice::sizes
  std::size_t place;
};

// Why there is no room for the workload; empty when there is. A CPU's memory is the host's, which
// holds inputs, outputs and the reference's result, too.
std::string too_large(const Workload &workload, const DeviceMemory &memory) {
  std::uint64_t all = 0;
  for (const Memory &m : workload.memories) {
    all += m.bytes();
    if (memory.greatest != 0 && m.storage == Storage::buffer && m.bytes() > memory.greatest) {
      return fmt::format("needs a buffer of {:.2f} GiB; the device allows {:.2f}",
                         static_cast<double>(m.bytes()) / kGibibyte,
                         static_cast<double>(memory.greatest) / kGibibyte);
    }
  }
  const std::uint64_t allowed = memory.is_cpu ? memory.all / 4 : memory.all / 10 * 9;
  if (memory.all == 0 || all <= allowed) return {};
  return fmt::format("needs {:.2f} GiB of memory; {:.2f} may be used",
                     static_cast<double>(all) / kGibibyte,
                     static_cast<double>(allowed) / kGibibyte);
}

class Tuning {
 public:
  Tuning(const DeviceInfo &device, const TuneOptions &options) : options_(options) {
    result_.device = device;
  }

  TunedDevice run(const packs::Contents &contents, const TuneProgress &progress) {
    result_.error = ask_memory(result_.device, &memory_);
    if (!result_.error.empty()) return std::move(result_);
    for (const packs::Program &program : contents.programs) {
      const auto &wanted = options_.programs;
      const bool chosen =
          wanted.empty() || std::find(wanted.begin(), wanted.end(), program.name) != wanted.end();
      if (chosen) add_program(program);
    }
    std::stable_sort(pending_.begin(), pending_.end(), [&](const Pending &a, const Pending &b) {
      return size_of(a).elements() < size_of(b).elements();
    });
    measure(progress);
    return std::move(result_);
  }

 private:
  const Size &size_of(const Pending &p) const { return result_.sizes[p.size].size; }

  void add_program(const packs::Program &program) {
    std::vector<Size> sizes = options_.sizes;
    if (sizes.empty()) {
      for (const auto &s : program.sizes) sizes.push_back({s[0], s[1], s[2]});
      sizes = tuning_sizes(sizes, memory_.is_cpu ? kMostOnCpu : ~std::uint64_t{0});
    }
    for (const Size &size : sizes) {
      TunedSize tuned{program.name, size, {}};
      for (const packs::Variant &variant : program.variants) {
        if (!options_.variant.empty() && variant.name != options_.variant) continue;
        TunedVariant &out = tuned.variants.emplace_back();
        out.variant = variant.name;
        out.reason = why_not(program, variant, size);
        if (!out.reason.empty()) continue;
        pending_.push_back({&program, &variant, result_.sizes.size(), tuned.variants.size() - 1});
      }
      if (!tuned.variants.empty()) result_.sizes.push_back(std::move(tuned));
    }
  }

  std::string why_not(const packs::Program &program, const packs::Variant &variant,
                      const Size &size) const {
    if (auto missing =
            runtime::missing_requirement(variant.requirements, result_.device.capabilities)) {
      return *missing;
    }
    const auto planned = plan_workload(program, variant, size, {});
    if (const auto *error = std::get_if<std::string>(&planned)) return *error;
    return too_large(std::get<Workload>(planned), memory_);
  }

  void measure(const TuneProgress &progress) {
    Budget budget(options_.budget_seconds, pending_.size());
    std::map<const packs::Variant *, std::string> rejected;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const auto start = Clock::now();
      const Pending &p = pending_[i];
      TunedVariant &out = result_.sizes[p.size].variants[p.place];
      const std::string what = fmt::format("{}/{} {} on {}", p.program->name, p.variant->name,
                                           size_text(size_of(p)), result_.device.label());
      if (progress) progress(what, i, pending_.size());
      double most = budget.share();
      if (const auto before = rejected.find(p.variant); before != rejected.end()) {
        out.reason = before->second;
      } else if (most == 0) {
        out.reason = "the budget was used up";
      } else {
        out = tune_variant(job_of(p, most));
        if (!out.rejected) most = options_.budget_seconds;
        if (out.rejected) {
          rejected[p.variant] =
              fmt::format("rejected at {}: {}", size_text(size_of(p)), out.reason);
        }
      }
      // The time that a driver hangs is not taken from the others.
      const std::chrono::duration<double> taken = Clock::now() - start;
      budget.spend(std::min(taken.count(), most));
    }
  }

  TuneJob job_of(const Pending &p, double seconds) {
    prepare_planes(p);
    TuneJob job;
    job.device = &result_.device;
    job.pack_path = options_.pack_path;
    job.program = p.program->name;
    job.variant = p.variant->name;
    job.size = size_of(p);
    job.inputs = &inputs_;
    job.expected = &expected_;
    job.seconds = seconds;
    job.timeout = options_.timeout;
    return job;
  }

  // Inputs and what the reference makes of them; the last are kept, as most variants share them.
  void prepare_planes(const Pending &p) {
    std::string unknown;
    Parameters parameters = all_parameters(*p.variant, {}, &unknown);
    const bool same_inputs = p.program == planes_of_ && size_of(p) == planes_size_;
    if (same_inputs && parameters == parameters_) return;
    if (!same_inputs) inputs_ = make_inputs(*p.program, size_of(p));
    expected_ = run_reference(p.program->reference, size_of(p), inputs_, parameters);
    planes_of_ = p.program;
    planes_size_ = size_of(p);
    parameters_ = std::move(parameters);
  }

  const TuneOptions &options_;
  TunedDevice result_;
  DeviceMemory memory_;
  std::vector<Pending> pending_;
  const packs::Program *planes_of_ = nullptr;
  Size planes_size_;
  Parameters parameters_;
  std::vector<Plane> inputs_;
  std::vector<Plane> expected_;
};

}  // namespace

TunedDevice tune(const packs::Contents &contents, const DeviceInfo &device,
                 const TuneOptions &options, const TuneProgress &progress) {
  return Tuning(device, options).run(contents, progress);
}

}  // namespace kiln::builder

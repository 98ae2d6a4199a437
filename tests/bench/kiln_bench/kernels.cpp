// SPDX-License-Identifier: Apache-2.0
// Goes through programs, sizes and variants of one device, and makes the data of each problem once.
#include "tests/bench/kiln_bench/kernels.hpp"

#include <algorithm>
#include <list>

#include "builder/launch/opened_pack.hpp"
#include "builder/launch/workload.hpp"

namespace kiln::builder {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMaxCheckedElements = 4'000'000;
constexpr ProblemSize kCheckSize{641, 479, 65};
constexpr double kMinSampling = 2e6;  // nanoseconds of samples, however small the budget
constexpr double kMinLimit = 0.1e9;   // nanoseconds of a launch, likewise
constexpr std::size_t kMinSamples = 3;

// Inputs and expected outputs of one program, made once for all variants.
class Problems {
 public:
  Problems(const packs::Program &program, const Reference &reference, const DeviceInfo &device)
      : program_(program), reference_(reference), device_(device) {}

  // Fails with Code::failed where the reference gives no result.
  Result<MeasuredProblem> problem(const packs::Variant &variant, const ProblemSize &size) {
    const ProblemSize checked = reference_.only_size().value_or(check_size(size));
    MeasuredProblem problem{size, nullptr, {checked, nullptr, nullptr}};
    Status status = inputs_for(size).move_to(&problem.inputs);
    if (status.ok()) status = inputs_for(checked).move_to(&problem.check.inputs);
    if (!status.ok()) return status;
    status = expected(variant, checked, *problem.check.inputs).move_to(&problem.check.expected);
    if (!status.ok()) return status;
    return problem;
  }

 private:
  struct Inputs {
    ProblemSize size;
    std::vector<Plane> planes;
  };
  struct Expected {
    ProblemSize size;
    Parameters parameters;
    bool covered;  // or nothing is known of the right planes
    std::vector<Plane> planes;
  };

  Result<const std::vector<Plane> *> inputs_for(const ProblemSize &size) {
    for (const Inputs &known : inputs_) {
      if (known.size == size) return &known.planes;
    }
    auto planes = reference_.inputs(program_, size);
    if (!planes.ok()) return planes.status();
    inputs_.push_back({size, *std::move(planes)});
    return &inputs_.back().planes;
  }

  Result<const std::vector<Plane> *> expected(const packs::Variant &variant,
                                              const ProblemSize &size,
                                              const std::vector<Plane> &inputs) {
    Parameters parameters = all_parameters(variant, {});
    const bool covered = reference_.covers(variant, size);
    for (const Expected &known : expected_) {
      if (known.size == size && known.parameters == parameters && known.covered == covered) {
        return &known.planes;
      }
    }
    auto planes = reference_.expected({variant, size, inputs, parameters, &device_});
    if (!planes.ok()) return planes.status();
    expected_.push_back({size, std::move(parameters), covered, *std::move(planes)});
    return &expected_.back().planes;
  }

  const packs::Program &program_;
  const Reference &reference_;
  const DeviceInfo &device_;
  std::list<Inputs> inputs_;  // whose addresses stay
  std::list<Expected> expected_;
};

// Of a variant that should have been checked and was not.
VariantMeasurement not_checked(const Status &status, std::size_t sizes) {
  VariantMeasurement measured;
  VariantTime time;
  time.reason = status.message;
  time.failed = true;
  measured.times.assign(sizes, time);
  return measured;
}

// Fails in the runtime's words where it is known that the device cannot run the variant.
Status check_available(const packs::Contents &contents, const packs::Variant &variant,
                       const DeviceInfo &device) {
  Status status = runtime::check_requirements(variant.requirements, device.capabilities);
  if (status.ok()) status = check_proven(contents, device.description.key.text(), variant);
  return status.ok() ? check_launchable(variant) : status;
}

std::vector<ProblemSize> sizes_of(const packs::Program &program,
                                  const KernelBenchOptions &options) {
  if (!options.sizes.empty()) return options.sizes;
  std::vector<ProblemSize> sizes;
  for (const auto &size : program.sizes) sizes.push_back({size[0], size[1], size[2]});
  if (sizes.empty()) sizes.push_back({1920, 1080, 1});
  return sizes;
}

class DeviceBench {
 public:
  DeviceBench(const packs::Contents &contents, const DeviceInfo &device,
              const KernelBenchOptions &options,
              const std::function<void(const std::string &, std::size_t, std::size_t)> &progress)
      : contents_(contents), device_(device), options_(options), progress_(progress) {
    for (const packs::Program &program : contents.programs) {
      for (const packs::Variant &variant : program.variants) {
        if (!wanted(program) || !measured(variant)) continue;
        cells_ += sizes_of(program, options).size();
      }
    }
    all_ = cells_;
  }

  DeviceRow run() {
    const CopyBandwidth copy = measure_copy_bandwidth(device_);
    row_.device = device_.label();
    row_.index = device_.index;
    row_.profile = device_.description.profile;
    row_.driver_version = device_.identity.text(runtime::Field::driver_version);
    row_.cpu = copy.cpu;
    row_.wall = copy.wall;
    row_.copy_bandwidth = copy.gigabytes_per_second;
    row_.copied = copy.status;
    if (!copy.opened) row_.status = copy.status;
    if (!row_.status.ok()) return std::move(row_);
    for (const packs::Program &program : contents_.programs) {
      if (wanted(program)) row_.programs.push_back(bench(program));
    }
    return std::move(row_);
  }

 private:
  bool wanted(const packs::Program &program) const {
    const auto &names = options_.programs;
    if (!options_.variant.empty() && find_variant(program, options_.variant) == nullptr)
      return false;
    return names.empty() || std::find(names.begin(), names.end(), program.name) != names.end();
  }

  bool measured(const packs::Variant &variant) const {
    if (!options_.variant.empty() && variant.name != options_.variant) return false;
    return check_available(contents_, variant, device_).ok();
  }

  ProgramRow bench(const packs::Program &program) {
    ProgramRow row{program.name, program.baseline, {}};
    const std::vector<ProblemSize> sizes = sizes_of(program, options_);
    const auto chosen = chosen_variants(device_, options_.pack_path, program.name, sizes);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      row.sizes.push_back({sizes[i], bytes_moved(program, sizes[i]), chosen[i], {}});
      if (program_shape(program).inputs.empty() && row.sizes[i].bytes != 0)
        row.sizes[i].fill = measure_fill(device_, row.sizes[i].bytes, row_.wall);
    }
    Reference reference;
    const Status found =
        Reference::find(program, options_.pack_path, options_.reference).move_to(&reference);
    Problems problems(program, reference, device_);
    for (const packs::Variant &variant : program.variants) {
      if (!options_.variant.empty() && variant.name != options_.variant) continue;
      if (progress_) progress_(program.name + "/" + variant.name, all_ - cells_, all_);
      add(program, variant, found, &problems, &row);
      if (measured(variant)) cells_ -= sizes.size();
    }
    return row;
  }

  // One row for each size.
  void add(const packs::Program &program, const packs::Variant &variant, const Status &found,
           Problems *problems, ProgramRow *row) {
    VariantRow base;
    base.variant = variant.name;
    base.published = published_ratios(program.name, variant.name);
    const Status available = check_available(contents_, variant, device_);
    if (!available.ok()) base.reason = available.message;
    VariantMeasurement measured;
    if (available.ok()) {
      measured = measure(program, variant, found, problems, *row);
      base.failed = !measured.status.ok();
      if (base.failed) base.reason = measured.status.message;
    }
    base.available = !base.reason;
    base.rung = measured.rung;
    for (std::size_t i = 0; i < row->sizes.size(); ++i) {
      row->sizes[i].variants.push_back(base);
      if (!base.available) continue;
      VariantRow &added = row->sizes[i].variants.back();
      added.measured = measured.times[i];
      added.reason = added.measured.reason;
      added.failed = added.measured.failed;
    }
  }

  // `found`: whether the program's reference was found.
  VariantMeasurement measure(const packs::Program &program, const packs::Variant &variant,
                             Status found, Problems *problems, const ProgramRow &row) const {
    VariantTask task{&device_, options_.pack_path, &program, &variant, {}, {}, 2e9, row_.wall};
    limit(&task);
    for (const SizeRow &size : row.sizes) {
      if (!found.ok()) break;
      found = problems->problem(variant, size.size).move_to(&task.problems.emplace_back());
    }
    return found.ok() ? measure_variant(task) : not_checked(found, row.sizes.size());
  }

  // What is left of the budget is shared by what is left to measure: half of a share goes into
  // processes, loads and checks.
  void limit(VariantTask *task) const {
    task->rule = options_.rule;
    if (options_.budget_seconds <= 0) return;
    if (task->rule.least != task->rule.most) task->rule.least = kMinSamples;
    const std::chrono::duration<double> spent = Clock::now() - start_;
    const double left = std::max(options_.budget_seconds - spent.count(), 0.0);
    const double share = left * 1e9 / static_cast<double>(cells_);
    task->rule.nanoseconds = std::min(task->rule.nanoseconds, std::max(share / 2, kMinSampling));
    task->most_nanoseconds = std::min(task->most_nanoseconds, std::max(share, kMinLimit));
  }

  const packs::Contents &contents_;
  const DeviceInfo &device_;
  const KernelBenchOptions &options_;
  const std::function<void(const std::string &, std::size_t, std::size_t)> &progress_;
  const Clock::time_point start_ = Clock::now();
  std::size_t cells_ = 0;  // variants at a size that are still to be measured
  std::size_t all_ = 0;
  DeviceRow row_;
};

}  // namespace

ProblemSize check_size(const ProblemSize &size) {
  if (size.elements() <= kMaxCheckedElements) return size;
  if (size.height == 1 && size.depth == 1) return {kCheckSize.width * kCheckSize.height, 1, 1};
  return {std::min(size.width, kCheckSize.width), std::min(size.height, kCheckSize.height),
          std::min(size.depth, kCheckSize.depth)};
}

bool DeviceRow::failed() const {
  if (!status.ok()) return true;
  for (const ProgramRow &program : programs) {
    for (const SizeRow &size : program.sizes) {
      if (std::any_of(size.variants.begin(), size.variants.end(),
                      [](const VariantRow &row) { return row.failed; })) {
        return true;
      }
    }
  }
  return false;
}

const VariantRow *SizeRow::find(const std::string &variant) const {
  for (const VariantRow &row : variants) {
    if (row.variant == variant) return &row;
  }
  return nullptr;
}

const VariantRow *SizeRow::best() const {
  const VariantRow *best = nullptr;
  for (const VariantRow &row : variants) {
    if (!row.has_figures()) continue;
    if (best == nullptr || row.nanoseconds() < best->nanoseconds()) best = &row;
  }
  return best;
}

std::optional<double> SizeRow::choice_loss() const {
  const VariantRow *taken = find(chosen);
  const VariantRow *fastest = best();
  if (taken == nullptr || !taken->has_figures()) return std::nullopt;
  if (taken->measured.wall != fastest->measured.wall) return std::nullopt;
  return taken->nanoseconds() / fastest->nanoseconds();
}

double SizeRow::gigabytes_per_second(const VariantRow &row) const {
  return row.has_figures() ? static_cast<double>(bytes) / row.nanoseconds() : 0;
}

std::optional<double> SizeRow::speedup(const VariantRow &row, const std::string &baseline) const {
  const VariantRow *first = find(baseline);
  if (first == nullptr || !first->has_figures() || !row.has_figures()) return std::nullopt;
  if (first->measured.wall != row.measured.wall) return std::nullopt;
  return first->nanoseconds() / row.nanoseconds();
}

DeviceRow bench_kernels(
    const packs::Contents &contents, const DeviceInfo &device, const KernelBenchOptions &options,
    const std::function<void(const std::string &, std::size_t, std::size_t)> &progress) {
  return DeviceBench(contents, device, options, progress).run();
}

}  // namespace kiln::builder

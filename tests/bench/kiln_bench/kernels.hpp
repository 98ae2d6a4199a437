// SPDX-License-Identifier: Apache-2.0
// The time, bandwidth and correctness of every variant of a pack on a device, with the published
// figures.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/launch/reference.hpp"
#include "tests/bench/kiln_bench/buffer_commands.hpp"
#include "tests/bench/kiln_bench/variant_times.hpp"
#include "tests/bench/kiln_bench/vendor_figures.hpp"

namespace kiln::builder {

struct VariantRow {
  std::string variant;
  bool available = false;
  std::optional<std::string> reason;  // why it is not available, or why there are no figures
  bool failed = false;                // and that is a fault: of the driver, the variant or the pack
  std::string rung;
  VariantTime measured;
  std::vector<Published> published;

  bool has_figures() const { return available && measured.time.samples != 0; }
  double nanoseconds() const { return measured.time.median; }
};

struct SizeRow {
  ProblemSize size;
  std::uint64_t bytes = 0;  // by the definition: each input read once, each output written once
  std::string chosen;       // what the runtime takes when asked for none; empty: nothing
  std::vector<VariantRow> variants;
  std::optional<FillTime> fill{};  // of as many bytes, where the program has outputs alone

  const VariantRow *find(const std::string &variant) const;
  const VariantRow *best() const;  // null where none has figures
  // The chosen variant's time by the best one's, 1 at least; nothing if it has no figures, or where
  // different clocks gave them.
  std::optional<double> choice_loss() const;
  double gigabytes_per_second(const VariantRow &row) const;
  // Over the variant called `baseline`; nothing if one of them has no figures, or where
  // different clocks gave them.
  std::optional<double> speedup(const VariantRow &row, const std::string &baseline) const;
};

// What the runtime's choice may take by the best variant's time.
inline constexpr double kMaxChoiceLoss = 1.05;
// A launch of more nanoseconds keeps a GPU from drawing frames: its NDRange is better split.
inline constexpr double kLongLaunch = 30e6;

struct ProgramRow {
  std::string program;
  std::string baseline;
  std::vector<SizeRow> sizes;
};

struct DeviceRow {
  std::string device;
  std::size_t index = 0;
  std::string profile;
  std::string driver_version;
  bool cpu = false;           // it draws no frames, whatever a launch takes
  bool wall = false;          // times are by the host's clock
  double copy_bandwidth = 0;  // GB/s, 10^9 bytes read and written; 0: none
  Status copied;              // a failure leaves no copy bandwidth
  Status status;              // a failure leaves no figures at all
  std::vector<ProgramRow> programs;

  // A launch takes so long that the device's frames would stutter.
  bool stutters(const VariantRow &row) const {
    return !cpu && row.has_figures() && row.nanoseconds() > kLongLaunch;
  }
  bool failed() const;  // something did that should not
};

struct KernelBenchOptions {
  std::string pack_path;
  std::vector<std::string> programs;  // empty: all
  std::string variant;                // empty: all
  std::vector<ProblemSize> sizes;     // empty: each program's own
  ReferenceOptions reference;
  StopRule rule;
  // For one device's launches, roughly: the smaller, the fewer samples, and the shorter the
  // launches that are measured at all. 0: none.
  double budget_seconds = 0;
};

// Measures one device, each variant in a process of its own. `progress` may be empty.
DeviceRow bench_kernels(const packs::Contents &contents, const DeviceInfo &device,
                        const KernelBenchOptions &options,
                        const std::function<void(const std::string &what, std::size_t done,
                                                 std::size_t all)> &progress);

// The size at which a problem is checked: its own where the reference is cheap.
ProblemSize check_size(const ProblemSize &size);

}  // namespace kiln::builder

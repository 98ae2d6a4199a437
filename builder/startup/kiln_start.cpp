// SPDX-License-Identifier: Apache-2.0
// An application's calls of Kiln's C++ interface, from the pack to the first results.
#include "builder/startup/kiln_start.hpp"

#include "builder/base/clock.hpp"
#include "builder/finish/compiled_bytes.hpp"
#include "builder/launch/opened_pack.hpp"
#include "runtime/api/api.hpp"

namespace kiln::builder {
namespace {

Status set_arguments(const StartMemory &memory, const std::vector<kiln::Kernel> &kernels) {
  for (std::size_t s = 0; s < kernels.size(); ++s) {
    const auto arguments = memory.arguments(s);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      kiln::Status status;
      kiln_kernel_set_value(kernels[s].get(), static_cast<unsigned>(i), arguments[i].data(),
                            arguments[i].size(), &status);
      if (!status) return status_of(status);
    }
  }
  return {};
}

Status launch(const kiln::Queue &queue, const StartItem &item, std::vector<kiln::Kernel> &kernels) {
  for (std::size_t s = 0; s < kernels.size(); ++s) {
    const Stage &stage = item.workload.stages[s];
    const kiln_ndrange range{
        stage.dimensions, {stage.global[0], stage.global[1], stage.global[2]}, {}, {}};
    auto event = kernels[s].launch(queue, range);
    if (!event) return status_of(event.error());
  }
  return status_of(queue.finish());
}

// A start of an application that uses Kiln; one call for each part of it.
class KilnApplication {
 public:
  KilnApplication(const OpenedDevice &child, const std::vector<StartItem> &items,
                  const KilnStart &how, bool launches)
      : child_(child), items_(items), how_(how), launches_(launches) {}

  Status run(StartTimes *out) {
    opencl_ = kiln::OpenCL(new kiln_opencl{child_.device->cl});
    Status status;
    memories_ = std::vector<StartMemory>(items_.size());
    for (std::size_t i = 0; i < items_.size() && launches_ && status.ok(); ++i) {
      status = memories_[i].make(child_, items_[i]);
    }
    kernels_.resize(items_.size());
    const auto start = Clock::now();
    if (status.ok()) status = open();
    for (std::size_t i = 0; i < items_.size() && status.ok(); ++i) status = begin(i, out);
    if (!status.ok()) return status;
    const double all = milliseconds_since(start);
    out->kernels = all;
    for (const double first : out->firsts) out->kernels -= first;
    if (launches_) out->results = all;
    for (std::size_t i = 0; i < items_.size() && launches_ && status.ok(); ++i) {
      const auto second = Clock::now();
      status = launch(queue_, items_[i], kernels_[i]);
      out->seconds.push_back(milliseconds_since(second));
    }
    if (status.ok() && how_.finish) status = status_of(loader_.finish());
    return status;
  }

 private:
  Status open() {
    kiln::LoaderOptions options;
    options.context = child_.context.get();
    if (!how_.overlay.empty()) options.overlay = how_.overlay.c_str();
    Status status = take(opencl_.device_from_cl(child_.device->id), &device_);
    if (status.ok()) status = take(kiln::Pack::open_file(how_.pack_path), &pack_);
    if (status.ok()) status = take(kiln::Loader::create(device_, pack_, options), &loader_);
    return status.ok() ? take(kiln::Queue::create(loader_), &queue_) : status;
  }

  // Loads an item and launches it.
  Status begin(std::size_t index, StartTimes *out) {
    const StartItem &item = items_[index];
    kiln::Loaded loaded = loader_.load(item.program, {}, how_.flags | kSmall);
    if (!loaded.program) return status_of(loaded.program.error());
    const kiln_rung rung =
        how_.rung == KILN_RUNG_EXACT && item.intermediate ? KILN_RUNG_INTERMEDIATE : how_.rung;
    if (loaded.report.rung() != rung) {
      return {Code::failed, "loaded from another rung: " + loaded.report.json()};
    }
    for (const Stage &stage : item.workload.stages) {
      Status status = take(kiln::Kernel::create(*loaded.program, stage.kernel),
                           &kernels_[index].emplace_back());
      if (!status.ok()) return status;
    }
    if (!launches_) return {};
    const std::uintmax_t before = how_.caches.empty() ? 0 : compiled_bytes(how_.caches);
    const auto first = Clock::now();
    Status status = set_arguments(memories_[index], kernels_[index]);
    if (status.ok()) status = launch(queue_, item, kernels_[index]);
    out->firsts.push_back(milliseconds_since(first));
    if (!how_.caches.empty()) out->compiled.push_back(compiled_bytes(how_.caches) > before);
    return status;
  }

  const OpenedDevice &child_;
  const std::vector<StartItem> &items_;
  const KilnStart &how_;
  bool launches_;
  kiln::OpenCL opencl_;
  kiln::Device device_;
  kiln::Pack pack_;
  kiln::Loader loader_;
  kiln::Queue queue_;
  std::vector<StartMemory> memories_;
  std::vector<std::vector<kiln::Kernel>> kernels_;
};

}  // namespace

Status start_kiln(const OpenedDevice &child, const std::vector<StartItem> &items,
                  const KilnStart &how, bool launches, StartTimes *out) {
  return KilnApplication(child, items, how, launches).run(out);
}

}  // namespace kiln::builder

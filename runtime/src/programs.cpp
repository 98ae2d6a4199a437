#include "programs.hpp"

namespace kiln::runtime {
namespace {

std::shared_ptr<Report> new_report(const Loader &loader, const std::string &program,
                                   std::string variant) {
  auto report = std::make_shared<Report>();
  report->program = program;
  report->variant = std::move(variant);
  report->device = loader.device;
  report->pack = loader.pack;
  return report;
}

}  // namespace

Programs::Slot *Programs::find_slot(const std::string &program, const std::string &variant,
                                    unsigned flags, LoadResult *result) {
  const packs::fb::Variant *chosen = nullptr;
  result->error = choose_variant(*loader_, program, variant, &chosen);
  if (!result->error.ok()) {
    result->report = new_report(*loader_, program, variant);
    return nullptr;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto &slot : slots_) {
    if (slot->variant == chosen && slot->flags == flags) return slot.get();
  }
  slots_.push_back(std::make_unique<Slot>());
  slots_.back()->variant = chosen;
  slots_.back()->flags = flags;
  return slots_.back().get();
}

// The slot's mutex is held.
const LoadResult &Programs::load_slot(const std::string &program, Slot *slot) {
  LoadResult result;
  auto report = new_report(*loader_, program, slot->variant->name()->str());
  result.error = climb(loader_, *slot->variant, slot->flags, &result.program, report.get());
  result.report = std::move(report);
  slot->last = std::move(result);
  ++slot->loads;
  return slot->last;
}

LoadResult Programs::load(const std::string &program, const std::string &variant, unsigned flags) {
  LoadResult result;
  Slot *slot = find_slot(program, variant, flags, &result);
  if (slot == nullptr) return result;
  const unsigned before = slot->loads;
  const std::lock_guard<std::mutex> lock(slot->mutex);
  // Loaded, or failed while this thread waited.
  if (slot->last.program != nullptr || slot->loads != before) return slot->last;
  return load_slot(program, slot);
}

void Programs::prefetch(const std::vector<std::string> &programs, unsigned flags,
                        Progress *progress) {
  std::vector<Slot *> others;  // that another thread is loading
  for (std::size_t i = 0; i < programs.size(); ++i) {
    LoadResult missing;
    Slot *slot = find_slot(programs[i], {}, flags, &missing);
    if (slot == nullptr) {
      if (progress != nullptr && !progress->loaded(programs[i], missing, i + 1)) return;
      continue;
    }
    std::unique_lock<std::mutex> lock(slot->mutex, std::try_to_lock);
    if (!lock) {
      others.push_back(slot);
      continue;
    }
    if (slot->loads != 0) continue;
    const LoadResult result = load_slot(programs[i], slot);
    lock.unlock();
    if (progress != nullptr && !progress->loaded(programs[i], result, i + 1)) return;
  }
  for (Slot *slot : others) const std::lock_guard<std::mutex> wait(slot->mutex);
}

}  // namespace kiln::runtime

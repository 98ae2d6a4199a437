// SPDX-License-Identifier: Apache-2.0
// Keeps one slot for each variant; its lock makes other threads wait for the one that loads.
#include "runtime/load/programs.hpp"

namespace kiln::runtime {
namespace {

std::shared_ptr<Report> new_report(const Loader &loader, const std::string &program,
                                   std::string variant) {
  auto report = std::make_shared<Report>();
  report->program = program;
  report->variant = std::move(variant);
  report->device = loader.device;
  report->pack = loader.pack;
  if (loader.compiler_unloaded)
    report->notes.push_back("the driver was asked to unload its compiler before");
  return report;
}

// The flags that only say which variant is wanted.
constexpr unsigned kChoiceFlags = KILN_LOAD_FOR_SMALL | KILN_LOAD_FOR_MEDIUM;

packs::SizeClass wanted_class(unsigned flags) {
  if ((flags & KILN_LOAD_FOR_SMALL) != 0) return packs::SizeClass::small;
  return (flags & KILN_LOAD_FOR_MEDIUM) != 0 ? packs::SizeClass::medium : packs::SizeClass::large;
}

LoadResult with_choice(LoadResult result, Choice choice) {
  result.choice = std::move(choice);
  return result;
}

}  // namespace

Programs::Slot *Programs::find_slot(const std::string &program, const std::string &variant,
                                    unsigned flags, const std::vector<packs::VariantRef> &failed,
                                    LoadResult *result) {
  result->error = choose_variant(*loader_->pack, *loader_->device, program, variant,
                                 wanted_class(flags), failed, &result->choice);
  const packs::VariantRef chosen = result->choice.variant;
  flags &= ~kChoiceFlags;
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

// The caller holds the slot's mutex.
const LoadResult &Programs::load_slot(const std::string &program, Slot *slot) {
  LoadResult result;
  auto report = new_report(*loader_, program, std::string(slot->variant.name()));
  result.error = climb(loader_, slot->variant, slot->flags, &result.program, report.get());
  result.report = std::move(report);
  slot->last = std::move(result);
  ++slot->loads;
  return slot->last;
}

LoadResult Programs::load(const std::string &program, const std::string &variant, unsigned flags) {
  LoadResult result;
  Slot *slot = find_slot(program, variant, flags, {}, &result);
  if (slot == nullptr) return result;
  result = load_one(program, slot, std::move(result.choice));
  const bool done = result.error.ok() || !variant.empty();
  return done ? result : load_next(program, flags, std::move(result));
}

LoadResult Programs::load_one(const std::string &program, Slot *slot, Choice choice) {
  const unsigned before = slot->loads;
  const std::lock_guard<std::mutex> lock(slot->mutex);
  // Loaded, or failed while this thread waited.
  const bool done = slot->last.program != nullptr || slot->loads != before;
  return with_choice(done ? slot->last : load_slot(program, slot), std::move(choice));
}

LoadResult Programs::load_next(const std::string &program, unsigned flags, LoadResult first) {
  std::vector<packs::VariantRef> failed{first.choice.variant};
  for (;;) {
    LoadResult result;
    Slot *slot = find_slot(program, {}, flags, failed, &result);
    if (slot == nullptr) return first;
    failed.push_back(slot->variant);
    result = load_one(program, slot, std::move(result.choice));
    if (result.error.ok()) return result;
  }
}

void Programs::prefetch(const std::vector<std::string> &programs, unsigned flags,
                        Progress *progress) {
  std::vector<Slot *> others;  // slots that another thread is loading
  for (std::size_t i = 0; i < programs.size(); ++i) {
    LoadResult asked;
    Slot *slot = find_slot(programs[i], {}, flags, {}, &asked);
    if (slot == nullptr) {
      if (progress != nullptr && !progress->loaded(programs[i], asked, i + 1)) return;
      continue;
    }
    std::unique_lock<std::mutex> lock(slot->mutex, std::try_to_lock);
    if (!lock) {
      others.push_back(slot);
      continue;
    }
    if (slot->loads != 0 && (flags & kDryRun) == 0) continue;
    LoadResult result = with_choice(load_slot(programs[i], slot), std::move(asked.choice));
    lock.unlock();
    if (!result.error.ok()) result = load_next(programs[i], flags, std::move(result));
    if (progress != nullptr && !progress->loaded(programs[i], result, i + 1)) return;
  }
  for (Slot *slot : others) const std::lock_guard<std::mutex> wait(slot->mutex);
}

std::optional<bool> Programs::has_compiled() {
  const std::lock_guard<std::mutex> lock(mutex_);
  bool compiled = false;
  for (const auto &slot : slots_) {
    const std::unique_lock<std::mutex> idle(slot->mutex, std::try_to_lock);
    if (!idle) return std::nullopt;
    if (slot->last.report != nullptr && slot->last.report->has_compiled()) compiled = true;
  }
  return compiled;
}

void Programs::finish() {
  if (loader_->persistence == nullptr) return;
  std::vector<Slot *> slots;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto &slot : slots_) slots.push_back(slot.get());
  }
  for (Slot *slot : slots) {
    std::shared_ptr<LoadedProgram> program;
    {
      const std::lock_guard<std::mutex> lock(slot->mutex);
      program = slot->last.program;
    }
    if (program != nullptr) loader_->persistence->store(program.get(), nullptr);
  }
}

}  // namespace kiln::runtime

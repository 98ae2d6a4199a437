// SPDX-License-Identifier: Apache-2.0
// Compares rows by how near the measured device is; chooses by name, by measurement or by
// preference among the variants that the device can run.
#include "runtime/load/tuning.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <tuple>

#include "kiln/packs/text.hpp"
#include "runtime/load/rungs.hpp"

namespace kiln::runtime {

namespace {

using packs::TuningRef;

std::uint32_t find_known(const packs::Pack &pack, const std::string &text) {
  return text.empty() ? ~std::uint32_t{0} : packs::find_text(pack, text);
}

// Returns whether `a`, which comes after `b` in the pack, has the better evidence.
bool better(TuningRef a, TuningRef b) {
  return a.samples() != b.samples() ? a.samples() > b.samples() : a.spread() < b.spread();
}

using packs::concat;
using packs::SizeClass;
using packs::VariantRef;

// Returns how far `size_class` is from `wanted`: smaller classes are nearer than larger ones.
unsigned distance(SizeClass size_class, SizeClass wanted) {
  const auto have = static_cast<unsigned>(size_class);
  const auto want = static_cast<unsigned>(wanted);
  return have <= want ? want - have : have;
}

// Returns the variant's place among the preferred variants, or their number if it is not preferred.
std::uint32_t preference(packs::ProgramRef program, VariantRef variant) {
  const packs::TextRefs preferred = program.preferred();
  std::uint32_t i = 0;
  while (i < preferred.size() && preferred[i] != variant.name()) ++i;
  return i;
}

// Times within this percentage count as equal: a median may be off by as much, and the fastest
// variant differs between problems of one class.
constexpr std::uint64_t kEqualPercent = 3;

struct Measurement {
  TuningRef row;
  VariantRef variant;

  auto place() const { return std::tuple(row.family(), row.model(), row.key_hash()); }
  // Orders by device, then by time, then by name.
  bool operator<(const Measurement &other) const {
    if (place() != other.place()) return place() < other.place();
    if (row.nanoseconds() != other.row.nanoseconds()) {
      return row.nanoseconds() < other.row.nanoseconds();
    }
    return row.variant() < other.row.variant();
  }
};

// The measurements of the nearest level and class that have any.
class Measurements {
 public:
  Measurements(const packs::Pack &pack, const Device &device, packs::ProgramRef program,
               SizeClass wanted)
      : place_(pack, device.description, device.key().hash()), program_(program), wanted_(wanted) {}

  void add(VariantRef variant) {
    for (unsigned i = 0; i < packs::kSizeClasses; ++i) {
      const packs::TuningQuery query{
          program_.name(), variant.name(), {}, static_cast<SizeClass>(i)};
      place_.for_each(query, [&](TuningRef row, TuningLevel level) {
        see({row, variant}, level, query.size_class);
      });
    }
  }

  // Sets a choice by measurement, if there is any measurement.
  bool choose(Choice *out) {
    std::make_heap(all_.begin(), all_.end());  // smaller than std::sort
    std::sort_heap(all_.begin(), all_.end());
    const Measurement *best = nullptr;
    std::size_t best_count = 0;
    std::uint64_t best_samples = 0;
    for (std::size_t first = 0, end = 0; first < all_.size(); first = end) {
      std::uint64_t samples = 0;
      for (; end < all_.size() && all_[end].place() == all_[first].place(); ++end) {
        samples += all_[end].row.samples();
      }
      const std::size_t count = end - first;
      if (std::tie(count, samples) <= std::tie(best_count, best_samples)) continue;
      best = &all_[first];
      best_count = count;
      best_samples = samples;
    }
    if (best == nullptr) return false;
    const Measurement &taken = preferred_of(best, best_count);
    out->variant = taken.variant;
    out->by = KILN_CHOICE_MEASUREMENT;
    out->level = level_;
    out->size_class = class_;
    out->nanoseconds = taken.row.nanoseconds();
    out->reason = sentence(*out, best_count, &taken == best);
    return true;
  }

 private:
  // Returns the measurement that the pack prefers among those as good as the fastest. `fastest`
  // points to one device's `count` measurements, the fastest first.
  const Measurement &preferred_of(const Measurement *fastest, std::size_t count) const {
    const std::uint64_t time = fastest->row.nanoseconds();
    const Measurement *taken = fastest;
    for (std::size_t i = 1; i < count; ++i) {
      if (fastest[i].row.nanoseconds() - time > time / 100 * kEqualPercent) break;
      if (preference(program_, fastest[i].variant) < preference(program_, taken->variant)) {
        taken = &fastest[i];
      }
    }
    return *taken;
  }

  void see(const Measurement &measurement, TuningLevel level, SizeClass size_class) {
    const auto rank = [&](TuningLevel l, SizeClass c) {
      return std::tuple(l, distance(c, wanted_));
    };
    if (!all_.empty() && rank(level, size_class) > rank(level_, class_)) return;
    if (!all_.empty() && rank(level, size_class) < rank(level_, class_)) all_.clear();
    level_ = level;
    class_ = size_class;
    all_.push_back(measurement);
  }

  static std::string sentence(const Choice &choice, std::size_t count, bool fastest) {
    static const char *const where[] = {"on this device", "on this model",
                                        "on a device of this family", "on a device of this vendor",
                                        "for any device"};
    const bool short_time = choice.nanoseconds < 100'000;
    const std::uint64_t thousandths =
        short_time ? choice.nanoseconds : (choice.nanoseconds + 500) / 1000;
    char time[40];
    std::snprintf(time, sizeof(time), "%llu.%03u %s",
                  static_cast<unsigned long long>(thousandths / 1000),
                  static_cast<unsigned>(thousandths % 1000), short_time ? "us" : "ms");
    const char *const what =
        fastest ? "measured the fastest of " : "preferred, and measured as good as the fastest of ";
    const std::string of =
        count == 1 ? "the only one measured " : concat({what, packs::decimal(count), " "});
    return concat({of, where[static_cast<unsigned>(choice.level)], " for ",
                   size_class_name(choice.size_class), " problems: ", time});
  }

  TuningPlace place_;
  packs::ProgramRef program_;
  SizeClass wanted_;
  TuningLevel level_ = TuningLevel::standard;
  SizeClass class_ = SizeClass::large;
  std::vector<Measurement> all_;  // measurements of `level_` and `class_`
};

Status choose_named(const packs::Pack &pack, const Device &device, const std::string &program,
                    const std::string &variant, Choice *out) {
  VariantRef found;
  if (Status s = pack.find_variant(program, variant, &found); !s.ok()) return s;
  if (!found) {
    return Status::error(Code::not_in_pack, {"program ", program, " has no variant ", variant});
  }
  if (Status s = check_requirements(found.requirements(), device.capabilities); !s.ok()) {
    s.message = concat(
        {"program ", program, ", variant ", variant, " ", s.message, ", which this device lacks"});
    return s;
  }
  out->variant = found;
  out->by = KILN_CHOICE_NAME;
  out->reason = "asked for by name";
  return {};
}

// Lists what the device lacks for each variant that it cannot run.
std::string missing_requirements(packs::ProgramRef program, const Device &device) {
  std::string text;
  for (const VariantRef variant : program.variants()) {
    const Status status = check_requirements(variant.requirements(), device.capabilities);
    text = concat({text, "; ", variant.name(), " ",
                   status.ok() ? "needs a binary with a proof" : status.message.c_str()});
  }
  return text;
}

}  // namespace

const char *tuning_level_name(TuningLevel level) {
  static const char *const names[] = {"device", "model", "family", "vendor", "default"};
  return names[static_cast<unsigned>(level)];
}

TuningPlace::TuningPlace(const packs::Pack &pack, const Description &device, std::uint64_t key_hash)
    : pack_(pack),
      profile_(device.profile),
      vendor_counts_(std::string_view(device.profile) != "generic"),
      family_(find_known(pack, device.family)),
      model_(find_known(pack, device.model)),
      has_model_(!device.model.empty()),
      key_hash_(key_hash) {}

TuningLevel TuningPlace::level_of(TuningRef row) const {
  // Several models may have one key: their binaries are the same, but their speed is not.
  const bool same_key = row.key_hash() != 0 && row.key_hash() == key_hash_;
  const bool other_model =
      row.model() != model_ && has_model_ && !packs::text_at(pack_, row.model()).empty();
  if (same_key && !other_model) return TuningLevel::device;
  if (row.model() == model_) return TuningLevel::model;
  if (row.family() == family_) return TuningLevel::family;
  return TuningLevel::vendor;
}

TuningRef find_tuning(const packs::Pack &pack, const packs::TuningQuery &query,
                      const Description &device, std::uint64_t key_hash, TuningLevel *level) {
  TuningRef best;
  if (!packs::has_tunings(pack)) return best;
  TuningPlace(pack, device, key_hash).for_each(query, [&](TuningRef row, TuningLevel here) {
    if (best && (here > *level || (here == *level && !better(row, best)))) return;
    best = row;
    *level = here;
  });
  return best;
}

const char *size_class_name(SizeClass size_class) {
  static const char *const names[] = {"small", "medium", "large"};
  return names[static_cast<unsigned>(size_class)];
}

Status choose_variant(const packs::Pack &pack, const Device &device, const std::string &program,
                      const std::string &variant, SizeClass wanted,
                      const std::vector<VariantRef> &failed, Choice *out) {
  packs::ProgramRef found;
  if (Status s = pack.find_program(program, &found); !s.ok()) return s;
  if (!found) {
    return Status::error(Code::not_in_pack, {"the pack has no program ", program});
  }
  if (!variant.empty()) return choose_named(pack, device, program, variant, out);
  Measurements measurements(pack, device, found, wanted);
  VariantRef first;  // by preference, then by name
  std::uint32_t place = 0;
  const bool is_measured = packs::has_tunings(pack);
  for (const VariantRef candidate : found.variants()) {
    const std::uint32_t here = preference(found, candidate);
    if (!is_measured && first && here >= place) continue;
    if (std::find(failed.begin(), failed.end(), candidate) != failed.end() ||
        !check_requirements(candidate.requirements(), device.capabilities).ok() ||
        (requires_proof(candidate) && !is_proven(pack, device, candidate))) {
      continue;
    }
    if (is_measured) measurements.add(candidate);
    if (first && here >= place) continue;
    first = candidate;
    place = here;
  }
  if (!first) {
    return Status::error(Code::requirement,
                         {"program ", program, " has no variant that this device can run",
                          missing_requirements(found, device)});
  }
  if (!measurements.choose(out)) {
    const bool preferred = place < found.preferred().size();
    out->variant = first;
    out->by = preferred ? KILN_CHOICE_PREFERENCE : KILN_CHOICE_ORDER;
    out->reason = preferred ? "preferred by the pack" : "first by name";
  }
  for (const VariantRef variant_failed : failed) {
    out->reason += concat({"; no rung could load ", variant_failed.name()});
  }
  return {};
}

}  // namespace kiln::runtime

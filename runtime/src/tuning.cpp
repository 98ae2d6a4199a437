#include "tuning.hpp"

#include <string_view>

namespace kiln::runtime {
namespace {

namespace fb = packs::fb;

// An unknown model is like no other unknown model.
bool same(const flatbuffers::String &row, const std::string &device) {
  return !device.empty() && std::string_view(row.c_str(), row.size()) == device;
}

TuningLevel level_of(const fb::Tuning &row, const Description &device, std::uint64_t key_hash) {
  if (row.key_hash() != 0 && row.key_hash() == key_hash) return TuningLevel::device;
  if (same(*row.model(), device.model)) return TuningLevel::model;
  if (same(*row.family(), device.family)) return TuningLevel::family;
  return TuningLevel::vendor;
}

// Whether `a`, which stands behind `b` in the pack, has the better evidence.
bool better(const fb::Tuning &a, const fb::Tuning &b) {
  return a.samples() != b.samples() ? a.samples() > b.samples() : a.spread() < b.spread();
}

}  // namespace

const char *tuning_level_name(TuningLevel level) {
  static const char *const names[] = {"device", "model", "family", "vendor", "default"};
  return names[static_cast<unsigned>(level)];
}

const fb::Tuning *find_tuning(const fb::Root &root, const packs::TuningQuery &query,
                              const Description &device, std::uint64_t key_hash,
                              TuningLevel *level) {
  const packs::Range range = packs::find_tunings(root, query, device.profile);
  const bool vendor_counts = std::string_view(device.profile) != "generic";
  const fb::Tuning *best = nullptr;
  TuningLevel nearest = TuningLevel::standard;
  for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
    const fb::Tuning *row = root.tunings()->Get(i);
    const TuningLevel here = level_of(*row, device, key_hash);
    if (here == TuningLevel::vendor && !vendor_counts) continue;
    if (here > nearest || (here == nearest && !better(*row, *best))) continue;
    best = row;
    nearest = here;
  }
  if (best == nullptr) {
    const packs::Range standard = packs::find_tunings(root, query, {});  // one at most
    if (standard.count != 0) best = root.tunings()->Get(standard.first);
  }
  if (best != nullptr) *level = nearest;
  return best;
}

}  // namespace kiln::runtime

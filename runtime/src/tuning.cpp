#include "tuning.hpp"

#include <string_view>

namespace kiln::runtime {
namespace {

namespace fb = packs::fb;

// A device's texts as the pack numbers them. What the device does not say is no row's.
struct Place {
  std::uint32_t family;
  std::uint32_t model;
  std::uint64_t key_hash;
};

std::uint32_t find_known(const fb::Root &root, const std::string &text) {
  return text.empty() ? ~std::uint32_t{0} : packs::find_text(root, text);
}

TuningLevel level_of(const fb::Tuning &row, const Place &device) {
  if (row.key_hash() != 0 && row.key_hash() == device.key_hash) return TuningLevel::device;
  if (row.model() == device.model) return TuningLevel::model;
  if (row.family() == device.family) return TuningLevel::family;
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
  const Place place{find_known(root, device.family), find_known(root, device.model), key_hash};
  const bool vendor_counts = std::string_view(device.profile) != "generic";
  const fb::Tuning *best = nullptr;
  TuningLevel nearest = TuningLevel::standard;
  for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
    const fb::Tuning *row = root.tunings()->Get(i);
    const TuningLevel here = level_of(*row, place);
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

#include "kiln/packs/records.hpp"

namespace kiln::packs {
namespace {

// The first index in [first, size) that is not `before`, where all that are come first.
template <typename Before>
std::uint32_t partition_point(std::uint32_t first, std::uint32_t size, Before before) {
  while (first < size) {
    const std::uint32_t middle = first + (size - first) / 2;
    if (before(middle)) {
      first = middle + 1;
    } else {
      size = middle;
    }
  }
  return first;
}

// The run of indices below `size` for which `order` is 0; it is negative before, positive after.
template <typename Order>
Range equal_range(std::uint32_t size, Order order) {
  const std::uint32_t first =
      partition_point(0, size, [&](std::uint32_t i) { return order(i) < 0; });
  const std::uint32_t end =
      partition_point(first, size, [&](std::uint32_t i) { return order(i) == 0; });
  return {first, end - first};
}

int compare(const flatbuffers::String &text, std::string_view with) {
  return std::string_view(text.c_str(), text.size()).compare(with);
}

int compare(const fb::Tuning &row, const TuningQuery &query, std::string_view profile) {
  if (const int order = compare(*row.program(), query.program); order != 0) return order;
  if (const int order = compare(*row.variant(), query.variant); order != 0) return order;
  if (const int order = compare(*row.kernel(), query.kernel); order != 0) return order;
  const int size_class = static_cast<int>(query.size_class);
  if (row.size_class() != size_class) return row.size_class() < size_class ? -1 : 1;
  return compare(*row.profile(), profile);
}

}  // namespace

Range cross_checks_of(const fb::Root &root, std::uint64_t device_key_hash) {
  const auto *checks = root.cross_checks();
  if (checks == nullptr) return {};
  return equal_range(checks->size(), [&](std::uint32_t i) {
    const std::uint64_t hash = checks->Get(i)->device_key_hash();
    return hash < device_key_hash ? -1 : hash > device_key_hash ? 1 : 0;
  });
}

const fb::CrossCheck *find_cross_check(const fb::Root &root, std::uint64_t device_key_hash,
                                       std::uint64_t target_key_hash) {
  const Range range = cross_checks_of(root, device_key_hash);
  const std::uint32_t end = range.first + range.count;
  const std::uint32_t i = partition_point(range.first, end, [&](std::uint32_t at) {
    return root.cross_checks()->Get(at)->target_key_hash() < target_key_hash;
  });
  if (i == end) return nullptr;
  const fb::CrossCheck *check = root.cross_checks()->Get(i);
  return check->target_key_hash() == target_key_hash ? check : nullptr;
}

Range find_tunings(const fb::Root &root, const TuningQuery &query, std::string_view profile) {
  const auto *rows = root.tunings();
  if (rows == nullptr) return {};
  return equal_range(rows->size(),
                     [&](std::uint32_t i) { return compare(*rows->Get(i), query, profile); });
}

}  // namespace kiln::packs

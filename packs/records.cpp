// SPDX-License-Identifier: Apache-2.0
#include "kiln/packs/records.hpp"

#include <iterator>

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

std::uint32_t find_text(const fb::Root &root, std::string_view text) {
  const auto *texts = root.texts();
  if (texts == nullptr) return 0;
  const auto at = [&](std::uint32_t i) {
    const flatbuffers::String *stored = texts->Get(i);
    return std::string_view(stored->c_str(), stored->size());
  };
  const std::uint32_t i =
      partition_point(0, texts->size(), [&](std::uint32_t middle) { return at(middle) < text; });
  return i < texts->size() && at(i) == text ? i : texts->size();
}

Range find_tunings(const fb::Root &root, const TuningQuery &query, std::string_view profile) {
  const auto *rows = root.tunings();
  if (rows == nullptr) return {};
  const std::uint32_t wanted[] = {
      find_text(root, query.program), find_text(root, query.variant), find_text(root, query.kernel),
      static_cast<std::uint32_t>(query.size_class), find_text(root, profile)};
  return equal_range(rows->size(), [&](std::uint32_t i) {
    const fb::Tuning &row = *rows->Get(i);
    const std::uint32_t values[] = {row.program(), row.variant(), row.kernel(), row.size_class(),
                                    row.profile()};
    for (std::size_t k = 0; k < std::size(wanted); ++k) {
      if (values[k] != wanted[k]) return values[k] < wanted[k] ? -1 : 1;
    }
    return 0;
  });
}

}  // namespace kiln::packs

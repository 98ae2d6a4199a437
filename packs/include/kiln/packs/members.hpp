// SPDX-License-Identifier: Apache-2.0
// The members of each record of a pack, named once. What must take every member (an order, a size,
// the key of a job) asks here: a record with another member does not compile before it is listed.
#pragma once

#include <tuple>

#include "kiln/packs/contents.hpp"

namespace kiln::packs {

inline auto members(const Parameter &record) {
  const auto &[name, type, size, address_space, access, qualifiers] = record;
  return std::tie(name, type, size, address_space, access, qualifiers);
}

inline auto members(const Kernel &record) {
  const auto &[name, arguments, range, parameters] = record;
  return std::tie(name, arguments, range, parameters);
}

inline auto members(const Argument &record) {
  const auto &[role, storage, channels, name, value, type, accumulates, stage, extent, values,
               fields] = record;
  return std::tie(name, role, storage, channels, value, type, accumulates, stage, extent, fields,
                  values);
}

inline auto members(const Statistic &record) {
  const auto &[kernel, name, value] = record;
  return std::tie(kernel, name, value);
}

inline auto members(const Variant &record) {
  const auto &[name, hash, options, requirements, kernels, source, il32, il64, il_version, pixels,
               local_size, arguments, tolerance, launches, limits, local_sizes, workarounds] =
      record;
  return std::tie(name, hash, options, requirements, kernels, source, il32, il64, il_version,
                  pixels, local_size, arguments, tolerance, launches, limits, local_sizes,
                  workarounds);
}

inline auto members(const Program &record) {
  const auto &[name, reference, variants, preferred, baseline, sizes] = record;
  return std::tie(name, reference, variants, preferred, baseline, sizes);
}

inline auto members(const KernelFacts &record) {
  const auto &[max_work_group_size, preferred_multiple, private_bytes, local_bytes] = record;
  return std::tie(max_work_group_size, preferred_multiple, private_bytes, local_bytes);
}

inline auto members(const Finish &record) {
  const auto &[finality, why_not, finisher, microseconds, unfinished_size, driver, local_sizes,
               proof, unproven, made_from, proved_by, workaround] = record;
  return std::tie(finality, proof, unproven, why_not, finisher, microseconds, unfinished_size,
                  driver, local_sizes, made_from, proved_by, workaround);
}

inline auto members(const Binary &record) {
  const auto &[variant, blob, build_log, kernels, finish, cache_entries, statistics] = record;
  return std::tie(variant, finish, cache_entries, build_log, kernels, statistics, blob);
}

inline auto members(const Target &record) {
  const auto &[key, profile, family, model, compiler, identity, binaries, intermediates,
               cache_entries] = record;
  return std::tie(key, profile, family, model, compiler, identity, binaries, intermediates,
                  cache_entries);
}

template <typename T>
concept Record = requires(const T &record) {
  members(record);
};

}  // namespace kiln::packs

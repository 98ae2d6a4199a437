// SPDX-License-Identifier: Apache-2.0
// Finds kernels by their names, and reads what each source says.
#include "builder/statistics/statistics.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "builder/statistics/code_object.hpp"
#include "builder/statistics/compiler_text.hpp"

namespace kiln::builder {
namespace {

std::string name_text(packs::StatisticName name) {
  const auto index = static_cast<std::size_t>(name);
  return index < std::size(packs::kStatisticNames) ? packs::kStatisticNames[index]
                                                   : fmt::format("statistic {}", index);
}

}  // namespace

std::vector<packs::Statistic> statistics_of(const packs::Variant &variant, const Figures &figures) {
  std::map<std::pair<std::uint32_t, packs::StatisticName>, std::uint64_t> all;
  for (const Figure &figure : figures) {
    for (std::uint32_t i = 0; i < variant.kernels.size(); ++i) {
      const bool is_only = figure.kernel.empty() && variant.kernels.size() == 1;
      if (variant.kernels[i].name != figure.kernel && !is_only) continue;
      const auto [place, fresh] = all.emplace(std::pair(i, figure.name), figure.value);
      const bool least = figure.name == packs::StatisticName::waves;
      if (!fresh) {
        place->second =
            least ? std::min(place->second, figure.value) : std::max(place->second, figure.value);
      }
    }
  }
  std::vector<packs::Statistic> statistics;
  for (const auto &[of, value] : all) statistics.push_back({of.first, of.second, value});
  return statistics;
}

std::vector<packs::Statistic> statistics_of(const packs::Variant &variant,
                                            const packs::Binary &binary) {
  packs::Bytes bytes;
  if (!binary.blob.read(&bytes).ok()) return {};
  Figures figures = figures_in_binary({bytes.data(), bytes.size()});
  for (Figure &figure : figures_in_ptxas_text(binary.build_log)) {
    figures.push_back(std::move(figure));
  }
  return statistics_of(variant, figures);
}

std::string beyond_limits(const packs::Variant &variant,
                          const std::vector<packs::Statistic> &statistics) {
  std::string text;
  for (const packs::Statistic &one : statistics) {
    for (const packs::Statistic &limit : variant.limits) {
      const bool least = limit.name == packs::StatisticName::waves;
      const bool fits = least ? one.value >= limit.value : one.value <= limit.value;
      if (one.name != limit.name || fits || one.kernel >= variant.kernels.size()) continue;
      text += fmt::format("{}kernel {} has {} {}, {} the limit of {}", text.empty() ? "" : "; ",
                          variant.kernels[one.kernel].name, one.value, name_text(one.name),
                          least ? "under" : "over", limit.value);
    }
  }
  return text;
}

std::string unmeasured_limits(const packs::Variant &variant,
                              const std::vector<packs::Statistic> &statistics) {
  std::string text;
  for (const packs::Statistic &limit : variant.limits) {
    const auto known =
        std::count_if(statistics.begin(), statistics.end(),
                      [&](const packs::Statistic &one) { return one.name == limit.name; });
    if (static_cast<std::size_t>(known) >= variant.kernels.size()) continue;
    text += (text.empty() ? "" : ", ") + name_text(limit.name);
  }
  return text;
}

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Finds kernels by their names, and reads what each source says.
#include "builder/statistics/statistics.hpp"

#include <algorithm>
#include <map>

#include "builder/statistics/code_object.hpp"
#include "builder/statistics/compiler_text.hpp"

namespace kiln::builder {

std::vector<packs::Statistic> statistics_of(const packs::Variant &variant, const Figures &figures) {
  std::map<std::pair<std::uint32_t, packs::StatisticName>, std::uint64_t> all;
  for (const Figure &figure : figures) {
    for (std::uint32_t i = 0; i < variant.kernels.size(); ++i) {
      if (variant.kernels[i].name != figure.kernel) continue;
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

}  // namespace kiln::builder

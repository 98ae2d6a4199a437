// SPDX-License-Identifier: Apache-2.0
// What the compiler says of a variant's kernels, as packs keep it.
#pragma once

#include <string>
#include <vector>

#include "builder/statistics/figure.hpp"

namespace kiln::builder {

// Returns the figures of the variant's kernels. Of several for one kernel and name, which a driver
// gives that compiles a kernel for several uses, the worst: the largest, for waves the smallest. A
// figure without a kernel's name is of the only kernel; of several kernels it is nobody's.
std::vector<packs::Statistic> statistics_of(const packs::Variant &variant, const Figures &figures);

// Returns the variant's statistics by what its binary and its build log say.
std::vector<packs::Statistic> statistics_of(const packs::Variant &variant,
                                            const packs::Binary &binary);

// Returns which statistics are beyond the variant's limits, with the kernel and the limit; empty if
// none is.
std::string beyond_limits(const packs::Variant &variant,
                          const std::vector<packs::Statistic> &statistics);
// Returns the limited statistics that some kernel lacks, "registers, waves"; empty if none.
std::string unmeasured_limits(const packs::Variant &variant,
                              const std::vector<packs::Statistic> &statistics);

}  // namespace kiln::builder

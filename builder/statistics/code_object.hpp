// SPDX-License-Identifier: Apache-2.0
// What compilers write about kernels into their binaries, which are ELF files.
#pragma once

#include "builder/statistics/figure.hpp"

namespace kiln::builder {

// Returns the figures of Intel's .ze_info, of the notes in AMD's code objects and of NVIDIA's
// .nv.info, and the sizes of the kernels' code. Empty for anything else, also for Intel's binaries
// before .ze_info; what is malformed gives no figure. Never throws except for lack of memory.
Figures figures_in_binary(packs::View binary);

}  // namespace kiln::builder

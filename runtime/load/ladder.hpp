// SPDX-License-Identifier: Apache-2.0
// Loads a variant from the best rung that gives a program. If none does, returns an error that says
// why.
#pragma once

#include <memory>

#include "kiln/prefetch.h"
#include "runtime/load/loader.hpp"
#include "runtime/load/report.hpp"

namespace kiln::runtime {

// Walks the ladder for a variant. `flags` are the KILN_LOAD_* bits. The report, which already names
// the program and the variant, is filled in either way; `*out` is set only on success.
Status climb(const std::shared_ptr<const Loader> &loader, packs::VariantRef variant, unsigned flags,
             std::shared_ptr<LoadedProgram> *out, Report *report);

// Flag for a dry run: evaluates the rungs without the driver, down to the first that would be
// tried. Records nothing, gives no notice, and leaves `*out` unchanged.
inline constexpr unsigned kDryRun = KILN_PREFETCH_DRY_RUN;

// Flag for an application's own driver calls: creates no kernels, and so does not check them.
inline constexpr unsigned kWithoutKernels = 1U << 29;

}  // namespace kiln::runtime

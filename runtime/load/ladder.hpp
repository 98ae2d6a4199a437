// SPDX-License-Identifier: Apache-2.0
// Loads a variant by the best rung that gives a program, or returns an error that says why none
// did.
#pragma once

#include <memory>

#include "runtime/load/loader.hpp"
#include "runtime/load/report.hpp"

namespace kiln::runtime {

// Walks the ladder for a variant. `flags` are the KILN_LOAD_* bits. The report, which names program
// and variant already, is filled in any case; `*out` is set only on success.
Status climb(const std::shared_ptr<const Loader> &loader, packs::VariantRef variant, unsigned flags,
             std::shared_ptr<LoadedProgram> *out, Report *report);

// Flag for a dry run: evaluates the rungs without the driver, down to the first that would be
// tried. Records nothing, gives no notice, and leaves `*out` unchanged.
inline constexpr unsigned kDryRun = 1u << 31;

}  // namespace kiln::runtime

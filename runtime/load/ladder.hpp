// SPDX-License-Identifier: Apache-2.0
// Loading a variant by the best rung that gives a program, or an error that says why.
#pragma once

#include <memory>

#include "runtime/load/loader.hpp"
#include "runtime/load/report.hpp"

namespace kiln::runtime {

// Walks the ladder for a variant. `flags` are the KILN_LOAD_* bits. The report, whose program
// and variant are set already, is filled whatever happens; `*out` only on success.
Status climb(const std::shared_ptr<const Loader> &loader, packs::VariantRef variant, unsigned flags,
             std::shared_ptr<LoadedProgram> *out, Report *report);

// Among the flags: without the driver, what the rungs would come to, down to the first that would
// be tried. Nothing is recorded, no notice is given, and `*out` stays as it is.
inline constexpr unsigned kDryRun = 1u << 31;

}  // namespace kiln::runtime

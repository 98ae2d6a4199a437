// SPDX-License-Identifier: Apache-2.0
// Option structs of the C API, which callers with an older or a newer header may pass.
#pragma once

#include <cstddef>

#include "kiln/kiln.h"

namespace kiln::runtime {

// Copies the options at `given`, which begin with their size, over the `known` bytes of zeros at
// `out`. Any further bytes of a newer caller must be zero, so that an unknown option is never
// silently ignored. (openat2 does the same.) Returns null, or what is wrong.
const char *read_options(const void *given, std::size_t known, void *out);

// Returns whether both are known levels: a C program can pass any number.
bool known_levels(const kiln_level &a, const kiln_level &b);

// Reports KILN_ERROR_ARGUMENT for the struct `name`.
kiln_status refuse_options(const char *name, const char *wrong, kiln_error *out);

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// Option structs of the C API, which callers with an older or a newer header may pass.
#pragma once

#include <cstddef>

#include "kiln/kiln.h"

namespace kiln::runtime {

// Copies the options at `given`, which begin with their size, over the `known` bytes of zeros at
// `out`. What a newer caller has beyond those must be zero: an option that is not known must not
// be taken for one that was followed. (So does openat2.) Returns null, or what is wrong.
const char *read_options(const void *given, std::size_t known, void *out);

// Whether both are levels: a C program can pass any number.
bool known_levels(const kiln_level &a, const kiln_level &b);

// KILN_ERROR_ARGUMENT for the struct of that name.
kiln_status refuse_options(const char *name, const char *wrong, kiln_error *out);

}  // namespace kiln::runtime

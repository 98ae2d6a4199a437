// SPDX-License-Identifier: Apache-2.0
// What compilers print about kernels, and what makes Mesa's print it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/statistics/figure.hpp"

namespace kiln::builder {

// Returns the figures in what Mesa's compilers of freedreno, radeonsi and panfrost print; the last
// one names no kernel. Other lines give none:
// these texts are for Mesa's developers, and change. Never throws except for lack of memory.
Figures figures_in_mesa_text(std::string_view text);

// Returns the figures in what NVIDIA's ptxas prints with -v, alone or as a driver's build log.
Figures figures_in_ptxas_text(std::string_view text);

// Environment variables with which a process in which Mesa compiles prints these texts on standard
// error. They keep it from using its cache, and change no code.
const std::vector<std::pair<const char *, const char *>> &mesa_print_variables();

}  // namespace kiln::builder

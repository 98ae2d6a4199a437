// SPDX-License-Identifier: Apache-2.0
// Finds the parameters of recorded kernels, as the host step does for a manifest's: an
// application's process only counts its kernels' arguments.
#pragma once

#include <chrono>
#include <string>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Sets the parameters of kernels that have none, for any requirements that they may need. A kernel
// stays without them if its variant has neither a SPIR-V module nor a source that clang compiles,
// if clang sees another number of arguments, if there is no clang, or if the time, which all
// programs share, is over. `clang` is as for find_clang(). Compiles several programs at once.
void add_parameters(const std::string &clang, std::chrono::milliseconds time,
                    packs::Contents *contents);

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// The driver's own binary of what this device had to compile: taken behind a marker, finished as
// the vendor's profile says, and stored in the overlay.
#pragma once

#include "runtime/load/ladder.hpp"

namespace kiln::runtime {

// Asks the driver for its binary of `program`, which some do not survive: behind a marker. Returns
// why there is none that is worth storing, or an empty string. The loader has an overlay.
std::string own_binary(const Loader &loader, packs::VariantRef variant, cl_program program,
                       packs::Bytes *out);

// What a stored binary of this profile is known to be before it was launched from the overlay.
packs::Finality stored_finality(const Device &device);

// Makes the program's binary final and stores it, if LoadedProgram::to_finish says that there is
// something to do. Tells of it by a notice. Any thread.
void finish_program(LoadedProgram *program);

}  // namespace kiln::runtime

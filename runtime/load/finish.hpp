// SPDX-License-Identifier: Apache-2.0
// The driver's own binary of what this device had to compile: taken behind a marker, finished as
// the vendor's profile says, and stored in the overlay.
#pragma once

#include "runtime/load/loader.hpp"

namespace kiln::runtime {

// Asks the driver for its binary of `program`, which some do not survive: behind a marker, where
// the loader has an overlay. Code::failed if an earlier start did not survive it.
Status ask_for_binary(const Loader &loader, packs::VariantRef variant, cl_program program,
                      packs::Bytes *out);
// The same for the overlay: fails too if the binary must not be stored.
Status own_binary(const Loader &loader, packs::VariantRef variant, cl_program program,
                  packs::Bytes *out);

// What a stored binary of this profile is known to be before it was launched from the overlay.
packs::Finality stored_finality(const Device &device);

// Makes the program's binary final and stores it, if LoadedProgram::to_finish is set, and notifies
// the application. Any thread.
void finish_program(LoadedProgram *program);

}  // namespace kiln::runtime

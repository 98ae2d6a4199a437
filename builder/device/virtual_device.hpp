// SPDX-License-Identifier: Apache-2.0
// What packs say of binaries that a vendor's driver made as a GPU that is not there. Pure.
#pragma once

#include <string>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Whether it says so: its finisher begins with "virtual-".
bool is_virtual(const packs::Finish &finish);

// Notes that the driver made it as `device`, such as "neo:skl": the finisher begins with
// "virtual-neo 1 as skl", and what no device launched says so. Does nothing where it says so
// already, and where a device launched it.
void mark_virtual(const std::string &device, packs::Finish *finish);

// Takes that from the finisher again: as the driver's build leaves it.
void unmark_virtual(packs::Finish *finish);

}  // namespace kiln::builder

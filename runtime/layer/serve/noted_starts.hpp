// SPDX-License-Identifier: Apache-2.0
// Which starts asked for which programs of an overlay, so that no program is noted whose text
// differs at each start: `kiln overlay build` would build it each time, for nothing.
#pragma once

#include "kiln/packs/contents.hpp"
#include "runtime/cached/cached_files.hpp"

namespace kiln::layer {

// Adds that this start asked for a program that the overlay does not have. Returns whether three
// earlier starts asked for others of its shape (cached::Family), and none for this one.
bool varies_at_each_start(const cached::DriverKey &driver, const packs::Program &program);

// Adds that this start asked for a program that an earlier one asked for, unless two did.
void note_second_start(const cached::DriverKey &driver, const std::string &program);

}  // namespace kiln::layer

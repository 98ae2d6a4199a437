// SPDX-License-Identifier: Apache-2.0
// What is known of drivers' mistakes, as data: Kiln's own notes, then the application's. Pure.
#pragma once

#include <string>

#include "kiln/kiln.h"
#include "runtime/identity/identity.hpp"

namespace kiln::runtime {

// What the notes about one device come to.
struct DriverNotes {
  unsigned flags = 0;   // KILN_DRIVER_* bits
  std::string options;  // each with a space before it
};

// If the note is about the device.
void add_driver_note(const kiln_driver_note &note, const Identity &identity,
                     const Description &description, DriverNotes *out);

// Kiln's own notes about the device.
DriverNotes known_driver_notes(const Identity &identity, const Description &description);

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// Starts `kiln overlay build` for the overlay, in a process of its own.
#pragma once

namespace kiln::layer {

// Returns whether `kiln` is beside the layer, or where an installation has it, and may be started
// (KILN_BACKGROUND).
bool has_builder();

// Starts `kiln overlay build` for what was noted, at most once in kStartAgain; does nothing without
// has_builder(). The process is no child of the application, has none of its descriptors, and waits
// until the application ends. Thread-safe; takes less than a millisecond.
void start_builder();

}  // namespace kiln::layer

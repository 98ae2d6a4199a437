// SPDX-License-Identifier: Apache-2.0
// Starts `kiln overlay build` for the overlay, in a process of its own.
#pragma once

namespace kiln::layer {

// Returns whether `kiln` is beside the layer, or where an installation has it.
bool has_builder();
// Returns whether it is there and is started in the background (KILN_BACKGROUND).
bool starts_builder();

// Starts `kiln overlay build` for what was noted, at most once in kStartAgain; does nothing without
// starts_builder(). The process is no child of the application, has none of its descriptors, and
// waits until the application ends. Thread-safe; takes less than a millisecond.
void start_builder();

}  // namespace kiln::layer

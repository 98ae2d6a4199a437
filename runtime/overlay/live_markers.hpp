// SPDX-License-Identifier: Apache-2.0
// The markers of this process, so that a process that ends on purpose leaves no deaths behind.
//
// exit() clears every slot but those of the thread that called it: a driver that calls exit() from
// inside of one of its functions has ended the process itself. Before a deliberate _exit(), or in a
// handler of SIGTERM, the application can have all of them cleared (kiln_process_ending()).
#pragma once

namespace kiln::runtime {

inline constexpr unsigned kMarkerSlots = 32;     // attempts of a loader at once
inline constexpr unsigned kMarkerSlotSize = 40;  // bytes

// Of the marker that the descriptor is open at. More than 16 markers are not remembered.
void add_live_marker(int fd);
// Before the descriptor is closed. False: the process is ending, the descriptor is to stay open.
bool remove_live_marker(int fd);

// Around a call of the driver that the slot is about, on the thread that makes it.
void enter_driver(int fd, unsigned slot);
void leave_driver(int fd, unsigned slot);

// Clears the slots of all markers. Async-signal-safe. With `keep_own` not those that the calling
// thread is in the driver for.
void clear_live_markers(bool keep_own);
// Whether that was called: a marker that is written now would never be cleared.
bool process_is_ending();

}  // namespace kiln::runtime

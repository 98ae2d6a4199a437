// SPDX-License-Identifier: Apache-2.0
// A folder that users share. DIR/<uid> is a user's own overlay, which only that user can use;
// DIR/<uid>.kiln a pack of what is in it, which that user signed for the others.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/packs/pack.hpp"

namespace kiln::runtime {

// Packs of other users that a process opens at most.
inline constexpr std::size_t kMaxOthers = 256;

// Sets `*overlay` to the path of this user's overlay in the folder, and makes the overlay's folder
// if it is absent. Fails with Code::io_error, with the path: if others may write to the shared
// folder and it is not sticky, so that they could replace what is not theirs, if it is a symbolic
// link, or if the overlay's folder is not this user's alone (Folder::open()).
packs::Status own_overlay(const char *shared, std::string *overlay);

// Opens the signed packs of other users, at most kMaxOthers, by user. Skips what is no sound pack
// or not that user's file, and never follows a link. A pack is trusted only after its signatures
// are checked.
std::vector<std::shared_ptr<const packs::Pack>> open_others(const char *shared);

// Replaces this user's signed pack by these bytes; other users can read it if the process's umask
// lets them. Fails with Code::io_error, with the path.
packs::Status write_for_others(const char *shared, packs::View pack);

// Returns a number that stands for this machine among those that use one folder; never 0. It
// follows from the machine's name, which stays the same when the machine starts again.
std::uint32_t machine_number();

}  // namespace kiln::runtime

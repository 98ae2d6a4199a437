// SPDX-License-Identifier: Apache-2.0
// What a driver's cache on disk tells of what the driver compiled: more than the clock, which takes
// a late launch on a busy machine for one that compiles.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/identity/identity.hpp"

namespace kiln::builder {

// Whether such a driver keeps what it compiles at a launch below the folder of use_driver_caches().
bool keeps_compiled(runtime::Finishing finishing);

// Bytes below that folder which grow where this process's driver compiles, and at no other launch.
// Waits until Mesa's threads have written theirs.
std::uintmax_t compiled_bytes(const std::string &caches);

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Where the drivers that this process loads keep what they compile. POSIX; on Windows only
// keep_listed_caches() and await_mesa() exist, and do nothing.
#pragma once

#include <string>

namespace kiln::builder {

// The variable with which a process of a posed driver (builder/virtual) names the folder for the
// caches that the driver fills when it is listed. They hold no kernel, and are the beginning of
// the process's other caches: Mesa would translate libclc again for each. Caches with a file for
// each entry (builder/finish/mesa_cache_folder.hpp) begin empty.
inline constexpr char kListedCaches[] = "KILN_LISTED_CACHES";

// Makes a driver that is listed in this process keep its caches in that folder. Returns false if
// the variable names none.
bool keep_listed_caches();

// Moves this process's driver caches below `folder`, one file each; they are empty if the folder
// holds no files and neither kListedCaches nor begin_caches_with() names any. Call before the
// process loads a driver, if the user's caches must not help it or its caches must be known. Caches
// that cannot be moved are switched off.
void use_driver_caches(const std::string &folder);

// From now on, use_driver_caches() in this process and those forked from it begins with a copy of
// the caches in each folder of `opened`, which drivers wrote when devices were opened: Mesa
// translates OpenCL's library then, which takes seconds. Nothing is copied once `opened` is gone.
void begin_caches_with(const std::string &opened);

// Waits, at most 10 seconds, until Mesa's threads have written to disk what this process compiled.
// Returns within milliseconds if no thread has anything to write.
void await_mesa();

}  // namespace kiln::builder

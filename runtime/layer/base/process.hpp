// SPDX-License-Identifier: Apache-2.0
// What the layer asks of the operating system about its process, beside packs/files.hpp.
// base/process.cpp is for POSIX, base/process_windows.cpp for Windows, where texts are
// UTF-8.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace kiln::layer {

// Separates the paths in a variable.
#ifdef _WIN32
inline constexpr char kListSeparator = ';';  // a path may begin with C:
#else
inline constexpr char kListSeparator = ':';
#endif

// Returns the variable's value, or `otherwise` if it is not set.
std::string variable(const char *name, const char *otherwise = "");
// Returns all variables, as NAME=VALUE, with a null pointer at the end; null after clearenv().
const char *const *all_variables();
// Returns whether the process runs with another user's rights, and so must not trust its variables.
bool has_other_rights();

// Keeps the layer in memory when an ICD loader closes it, while threads may be in it. On POSIX the
// linker's option -z nodelete does so, and this does nothing.
void stay_loaded();

// Returns the time since the process began, to 10 ms; zero if the system does not tell.
std::chrono::microseconds age_of_process();
// Hashes the command line.
std::uint64_t this_command();

bool is_readable(const std::string &path);
// Makes a folder that others may use, too, unless there is one.
void make_shared_folder(const std::string &path);
// Opens a file that may be shared, to append to it; makes it if there is none. Returns -1, with
// errno, on failure.
int open_to_append(const std::string &path);

}  // namespace kiln::layer

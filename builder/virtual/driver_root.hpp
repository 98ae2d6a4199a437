// SPDX-License-Identifier: Apache-2.0
// A root into which another system's packages were unpacked: its libraries, its C library, and the
// drivers that its ICD files name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// Returns the absolute path of a root. Fails with Code::bad_argument if it is no folder, or if its
// path cannot be handed to the dynamic loader.
Result<std::filesystem::path> canonical_root(const std::filesystem::path &root);

// Returns the root's library folders that exist.
std::vector<std::filesystem::path> library_folders(const std::filesystem::path &root);

// Returns the first file of that name in the folders; empty if there is none.
std::filesystem::path find_in(const std::vector<std::filesystem::path> &folders,
                              std::string_view name);

// A driver's library, and the whole file.
struct DriverFile {
  std::filesystem::path library;
  std::string bytes;
};

constexpr char kThisProgram[] = "/proc/self/exe";

// Returns the drivers in the root's ICD files, in the order of the files, whose library's name
// begins with `begins`. Fails with Code::no_device if such a library is not there or is of another
// architecture than the program.
Result<std::vector<DriverFile>> find_drivers(const std::filesystem::path &root,
                                             std::string_view begins,
                                             const std::filesystem::path &program = kThisProgram);

// Returns the name of the emulator that a program of another architecture than this one needs;
// empty if it needs none.
std::string emulator_of(const std::filesystem::path &program);

// The root's ICD files, for a message: "/srv/debian-sid/etc/OpenCL/vendors/*.icd".
std::string icd_files(const std::filesystem::path &root);

// Returns the root's dynamic loader if programs of this machine need it for the root's libraries;
// else an empty path. Fails with Code::no_device if the root has none.
Result<std::filesystem::path> loader_of(const std::filesystem::path &root,
                                        const std::vector<std::filesystem::path> &folders);

// Returns whether this process's C library is later than the root's.
bool has_earlier_libc(const std::vector<std::filesystem::path> &folders);

// Returns the version of a C library from the text in its file, 2031 for 2.31; 0 if there is none.
// Pure.
unsigned glibc_version(std::string_view file);

// Returns whether the file has that text as a whole string. Pure.
bool has_string(std::string_view file, std::string_view text);

}  // namespace kiln::builder

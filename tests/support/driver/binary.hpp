// SPDX-License-Identifier: Apache-2.0
// This driver's binaries: who made it, what a recompilation needs, and the real driver's own
// binary. Everything behind the magic is hashed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kiln::driver {

struct Binary {
  std::string model;
  std::string driver_version;
  std::uint32_t revision = 0;
  std::uint32_t generation = 0;  // counts recompilations: each changes the bytes
  bool stub = false;             // taken before there was machine code: no payload
  std::string options;
  std::string kernels;  // names, separated by semicolons
  std::string source;   // empty where the script says so
  std::string payload;
};

std::string encode(const Binary &binary);

enum class Decoded { good, corrupt, foreign };  // foreign: not even the magic
// Fills `out` unless foreign; after corrupt its contents are only partly there.
Decoded decode(const std::string &bytes, Binary *out);

// The same binary as Intel's compilers lay it out: an ELF file with two sections, `bytes` and
// SPIR-V.
std::string intel_of(const std::string &bytes);

struct IntelFile {
  std::string bytes;
  bool has_spirv = false;
};

// Returns no bytes if the file is not laid out as intel_of() does it, with SPIR-V or without.
IntelFile read_intel(const std::string &file);

}  // namespace kiln::driver

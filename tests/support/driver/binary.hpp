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

}  // namespace kiln::driver

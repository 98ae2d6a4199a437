// SPDX-License-Identifier: Apache-2.0
// The binaries of Intel's driver and of ocloc: ELF files that also hold the SPIR-V that the
// compiler made of the source. The driver needs it only to compile the program again or to link it.
#pragma once

#include <optional>

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// The finisher's name and version.
inline constexpr char kWithoutSpirv[] = "intel-without-spirv 1";

// Returns the file with an empty section of SPIR-V. The number, the order, the names and the
// alignment of the sections stay, since symbols refer to sections by number, and all other
// sections have the same bytes. Returns nothing if the bytes are no such file, have no SPIR-V, or
// have program headers or overlapping parts.
std::optional<packs::Bytes> without_spirv(packs::View binary);

// Leaves the SPIR-V out of `binary`, and says so in its finish. Returns false, without a change, if
// without_spirv() returns nothing.
bool drop_spirv(packs::Binary *binary);

}  // namespace kiln::builder

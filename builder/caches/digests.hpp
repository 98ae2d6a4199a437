// SPDX-License-Identifier: Apache-2.0
// Digests by which applications name what they cache: of no use against anyone who means harm.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kiln::builder {

// In lower-case hexadecimal.
std::string md5_hex(std::string_view text);

// The CRC of 64 bits with the polynomial of ECMA-182, reflected, all bits set at the start and
// inverted at the end.
std::uint64_t crc64(std::string_view text);

}  // namespace kiln::builder

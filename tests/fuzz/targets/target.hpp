// SPDX-License-Identifier: Apache-2.0
// What the libFuzzer targets share. Each file of this folder is one target: the parser of bytes
// that come from outside, as libFuzzer calls it.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

// SPDX-License-Identifier: Apache-2.0
// Writes JSON text; the runtime does not read JSON. RapidJSON's SAX writer, which needs no
// exceptions either, is not used: it refuses strings that are not UTF-8, which drivers report, and
// applications that link the runtime would depend on it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kiln::runtime {

// Returns the length of the well-formed UTF-8 sequence at the start of `text`, which is not empty;
// 0 if there is none.
std::size_t utf8_length(std::string_view text);

// Appends `text` as a JSON string with its quotes. Bytes that are not UTF-8 are taken as
// Latin-1, so that the result is always valid JSON whatever a driver reports.
void append_json(std::string_view text, std::string *out);

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// Finds rows of a pack: tunings, by binary searches, and known-bad notes. All functions read
// only the root and allocate nothing.
#pragma once

#include <cstdint>
#include <string_view>

#include "kiln/packs/known_bad.hpp"
#include "kiln/packs/pack.hpp"

namespace kiln::packs {

// Consecutive records of the pack.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct TuningQuery {
  std::string_view program;
  std::string_view variant;
  std::string_view kernel;
  SizeClass size_class = SizeClass::small;
};

// Returns the number of a text that rows share; if there is no such text, a number that
// none has.
std::uint32_t find_text(const Pack &pack, std::string_view text);
// Returns the text for a number from a row.
std::string_view text_at(const Pack &pack, std::uint32_t number);

// Returns whether the pack has any tuning.
bool has_tunings(const Pack &pack);
// Returns the tunings of that kernel and size class that were measured on devices of `profile`; an
// empty profile gives the defaults.
Range find_tunings(const Pack &pack, const TuningQuery &query, std::string_view profile);
// Returns whether a row of such a range measured the text that the pack has for the query's
// variant.
bool is_of_packed_text(const Pack &pack, const TuningQuery &query, std::uint32_t index);
// Returns a tuning of such a range.
TuningRef tuning_at(const Pack &pack, std::uint32_t index);

// Returns the known-bad notes, and the texts of one.
KnownBadRefs known_bad(const Pack &pack);
NoteView texts_of(const Pack &pack, KnownBadRef note);

// Returns the XXH3-64 of the program's variants: of each in order its name, a zero byte and its
// hash, and so of all sources and build options. A null program has the hash 0.
std::uint64_t program_hash(ProgramRef program);

}  // namespace kiln::packs

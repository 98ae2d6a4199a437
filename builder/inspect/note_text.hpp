// SPDX-License-Identifier: Apache-2.0
// Known-bad notes of a pack: as text, as JSON, and what they leave out.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "kiln/packs/contents.hpp"
#include "kiln/types.h"
#include "runtime/identity/identity.hpp"

namespace kiln::builder {

// Returns the words of the rungs that a note leaves out: "exact, il"; "all".
std::string rung_words(std::uint32_t rungs);

// Returns what a note is about: "program laplace, profile pocl, driver_from 3.1"; "everything".
std::string note_subject(const packs::KnownBad &note);

// Returns the note with the members that have a value; "rungs" is an array of words.
nlohmann::json note_json(const packs::KnownBad &note);

// Returns the first note that leaves out the rung for the variant on the device; null if none does.
const packs::KnownBad *known_bad_note(const std::vector<packs::KnownBad> &notes, kiln_rung rung,
                                      const packs::Program &program, const packs::Variant &variant,
                                      const runtime::Identity &identity,
                                      const runtime::Description &device);

}  // namespace kiln::builder

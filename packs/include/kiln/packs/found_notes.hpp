// SPDX-License-Identifier: Apache-2.0
// Known-bad notes of what builds found, is_found(). Each names a program and a variant, but is
// about the variant's text: about every variant with the same hash, also in another program or
// under another name. Pure.
#pragma once

#include <vector>

#include "kiln/packs/contents.hpp"

namespace kiln::packs {

// Returns whether results were compared with the program's reference, or were all that could be
// compared if the program has none. What a build found about a variant is withdrawn by no less.
bool is_compared(const Program &program, const Variant &variant, const Finish &finish);
// Returns whether the program has a reference for the variant's results.
bool has_reference(const Program &program, const Variant &variant);

// Adds a note that is_found(). One that differs only in its versions and its reason grows: it is
// then about all versions from the lowest to the highest of both, with the reason of one of them.
void add_found(KnownBad note, Contents *contents);

// What a build says of a variant on one device and driver version, whether it found a fault or not.
struct Judged {
  Digest variant{};
  KnownBad note{};  // the reason and the rungs do not matter
};

// Adds what is found in `earlier` about variants whose hash `contents` has, under their names
// there, but for notes about the variant, device and driver version of one of `judged`.
void keep_found(const Contents &earlier, const std::vector<Judged> &judged, Contents *contents);

// Gives each variant the notes about others with its hash. Then leaves out the binaries and
// intermediates that a note says are wrong: those that the noted driver built as the variant says,
// unless they are_compared(). Adds what was left out to `choices`.
void settle_found(Contents *contents, std::vector<MergeChoice> *choices);

}  // namespace kiln::packs

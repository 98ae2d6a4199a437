// SPDX-License-Identifier: Apache-2.0
// Which devices and variants a known-bad note is about. Pure functions; safe from any thread.
#pragma once

#include <string_view>

#include "kiln/packs/known_bad.hpp"
#include "runtime/identity/identity.hpp"

namespace kiln::runtime {

// Returns whether a version is at least `from`, and lower than `below` unless that is empty.
bool is_between(std::string_view version, std::string_view from, std::string_view below);

// Returns whether the note's text `which`, a pattern, is empty or fits `name`.
bool fits_name(const packs::NoteView &note, packs::NoteText which, std::string_view name);

// Returns whether the note is about the device: its profile, family, model, driver and compiler.
bool fits_device(const packs::NoteView &note, const Identity &identity, const Description &device);

// Returns whether the note is about the variant. `Kernels` are a variant's kernels; name_of()
// returns the name of one.
template <typename Kernels, typename NameOf>
bool fits_variant(const packs::NoteView &note, std::string_view program, std::string_view variant,
                  const Kernels &kernels, NameOf name_of) {
  if (!fits_name(note, packs::NoteText::program, program)) return false;
  if (!fits_name(note, packs::NoteText::variant, variant)) return false;
  if (note[packs::NoteText::kernel].empty()) return true;
  for (const auto &kernel : kernels) {
    if (fits_name(note, packs::NoteText::kernel, name_of(kernel))) return true;
  }
  return false;
}

}  // namespace kiln::runtime

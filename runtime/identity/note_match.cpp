// SPDX-License-Identifier: Apache-2.0
// Compares a note's patterns and versions with a device and with names.
#include "runtime/identity/note_match.hpp"

#include "kiln/packs/text.hpp"

namespace kiln::runtime {

using packs::NoteText;

bool is_between(std::string_view version, std::string_view from, std::string_view below) {
  return packs::compare_versions(version, from) >= 0 &&
         (below.empty() || packs::compare_versions(version, below) < 0);
}

bool fits_name(const packs::NoteView &note, NoteText which, std::string_view name) {
  return note[which].empty() || packs::glob_match(note[which], name);
}

bool fits_device(const packs::NoteView &note, const Identity &identity, const Description &device) {
  return fits_name(note, NoteText::profile, device.profile) &&
         fits_name(note, NoteText::family, device.family) &&
         fits_name(note, NoteText::model, device.model) &&
         is_between(identity.text(Field::driver_version), note[NoteText::driver_from],
                    note[NoteText::driver_below]) &&
         is_between(device.compiler, note[NoteText::compiler_from], note[NoteText::compiler_below]);
}

}  // namespace kiln::runtime

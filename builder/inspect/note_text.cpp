// SPDX-License-Identifier: Apache-2.0
// Matches notes by the runtime's functions.
#include "builder/inspect/note_text.hpp"

#include <fmt/format.h>

#include "runtime/identity/note_match.hpp"
#include "runtime/load/rungs.hpp"

namespace kiln::builder {
namespace {

using nlohmann::json;

std::vector<std::string> words_of(std::uint32_t rungs) {
  std::vector<std::string> words;
  for (const runtime::Rung &rung : runtime::rungs()) {
    if ((rungs >> rung.id & 1) != 0) words.emplace_back(rung.name);
  }
  return words;
}

}  // namespace

std::string rung_words(std::uint32_t rungs) {
  if (rungs == packs::kAllRungs) return "all";
  return fmt::format("{}{}", fmt::join(words_of(rungs), ", "),
                     packs::is_found(rungs) ? " (found by a build)" : "");
}

std::string note_subject(const packs::KnownBad &note) {
  std::string text;
  for (std::size_t i = 0; i < static_cast<std::size_t>(packs::NoteText::reason); ++i) {
    if (note.texts[i].empty()) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", packs::kNoteTextNames[i], note.texts[i]);
  }
  return text.empty() ? "everything" : text;
}

json note_json(const packs::KnownBad &note) {
  json members;
  for (std::size_t i = 0; i < packs::kNoteTexts; ++i) {
    if (!note.texts[i].empty()) members[packs::kNoteTextNames[i]] = note.texts[i];
  }
  members["rungs"] = words_of(note.rungs);
  if (packs::is_found(note.rungs)) members["found"] = true;
  return members;
}

const packs::KnownBad *known_bad_note(const std::vector<packs::KnownBad> &notes, kiln_rung rung,
                                      const packs::Program &program, const packs::Variant &variant,
                                      const runtime::Identity &identity,
                                      const runtime::Description &device) {
  for (const packs::KnownBad &note : notes) {
    const packs::NoteView texts = note.view();
    if ((note.rungs >> rung & 1) != 0 && runtime::fits_device(texts, identity, device) &&
        runtime::fits_variant(
            texts, program.name, variant.name, variant.kernels,
            [](const packs::Kernel &kernel) -> std::string_view { return kernel.name; })) {
      return &note;
    }
  }
  return nullptr;
}

}  // namespace kiln::builder

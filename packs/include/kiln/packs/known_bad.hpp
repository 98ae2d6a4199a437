// SPDX-License-Identifier: Apache-2.0
// Known-bad notes: what a driver gets wrong, as rows of a pack's root.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kiln::packs {

// The texts of a note, in the order of the schema. All but the last two say what the note is about;
// an empty one fits everything. Programs, kernels and devices are named by patterns for
// glob_match(), drivers and their compilers by versions for compare_versions().
enum class NoteText : std::uint8_t {
  program,
  variant,
  kernel,  // one of the variant's kernels
  profile,
  family,
  model,
  driver_from,
  driver_below,
  compiler_from,
  compiler_below,
  reason,
  link
};
inline constexpr std::size_t kNoteTexts = 12;

// The names of the texts in files of notes and in JSON.
inline constexpr const char *kNoteTextNames[kNoteTexts] = {
    "program",     "variant",      "kernel",        "profile",        "family", "model",
    "driver_from", "driver_below", "compiler_from", "compiler_below", "reason", "link"};

// `rungs` of a note that leaves out every rung; of others the sum of 1 << kiln_rung.
inline constexpr std::uint32_t kAllRungs = 0xffffffff;

// Marks, among the rungs, a note of what a build found and not of a file. It names one variant and
// one device, and no file's version withdraws it.
inline constexpr std::uint32_t kFoundByBuild = std::uint32_t{1} << 31;
inline bool is_found(std::uint32_t rungs) {
  return rungs != kAllRungs && (rungs & kFoundByBuild) != 0;
}

// A note's texts.
class NoteView {
 public:
  std::string_view &operator[](NoteText which) { return texts_[static_cast<std::size_t>(which)]; }
  std::string_view operator[](NoteText which) const {
    return texts_[static_cast<std::size_t>(which)];
  }

 private:
  std::array<std::string_view, kNoteTexts> texts_;
};

}  // namespace kiln::packs

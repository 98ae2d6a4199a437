// SPDX-License-Identifier: Apache-2.0
// Removes and adds build options; makes notes with exact names and versions, and compares them.
#include "builder/jobs/workarounds.hpp"

#include <algorithm>

#include "builder/finish/job.hpp"
#include "kiln/packs/text.hpp"
#include "kiln/types.h"

namespace kiln::builder {
namespace {

constexpr char kNoOptimization[] = "-cl-opt-disable";
constexpr std::string_view kStandard = "-cl-std=CL";
// Each lets a compiler compute less accurately than OpenCL demands (OpenCL C, optimization
// options).
constexpr const char *kInaccurate[] = {"-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations",
                                       "-cl-finite-math-only",  "-cl-mad-enable",
                                       "-cl-denorms-are-zero",  "-cl-no-signed-zeros"};
constexpr const char *kStandards[] = {"3.0", "2.0", "1.2"};  // 1.1 lacks what 1.2 has

using packs::NoteText;

std::uint32_t bit(kiln_rung rung) { return std::uint32_t{1} << rung; }

// The lowest version above this one; compare_versions() compares number by number.
std::string just_above(const std::string &version) { return version.empty() ? "" : version + ".1"; }

// Returns null if there is none of the name.
const packs::Variant *find_variant(const packs::Contents &contents, const packs::KnownBad &note) {
  for (const packs::Program &program : contents.programs) {
    if (program.name != note[NoteText::program]) continue;
    for (const packs::Variant &variant : program.variants) {
      if (variant.name == note[NoteText::variant]) return &variant;
    }
  }
  return nullptr;
}

// Whether both are about the same variant, device and driver version.
bool is_about_same(packs::KnownBad a, const packs::KnownBad &b) {
  a[NoteText::reason] = b[NoteText::reason];
  a.rungs = b.rungs;
  return a == b;
}

}  // namespace

std::vector<std::string> option_words(const std::string &options) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < options.size();) {
    const std::size_t end = std::min(options.find(' ', at), options.size());
    if (end != at) words.push_back(options.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::string joined_options(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<Workaround> workarounds_for(const packs::Variant &variant, const DeviceInfo &device) {
  std::vector<Workaround> all;
  const auto add = [&](std::string name, std::string options) {
    Workaround &one = all.emplace_back(Workaround{std::move(name), variant});
    one.variant.options = std::move(options);
  };
  const std::vector<std::string> words = option_words(variant.options);
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  for (const std::string &workaround : variant.workarounds) {
    add(workaround, variant.options.empty() ? workaround : variant.options + " " + workaround);
    all.back().is_other_text = true;
  }
  for (const char *option : kInaccurate) {
    if (!has(option)) continue;
    std::vector<std::string> others = words;
    std::erase(others, option);
    add(std::string("without ") + option, joined_options(others));
  }
  if (!has(kNoOptimization)) {
    add(kNoOptimization,
        variant.options.empty() ? kNoOptimization : variant.options + " " + kNoOptimization);
  }
  const auto standard = std::find_if(words.begin(), words.end(), [](const std::string &word) {
    return word.starts_with(kStandard);
  });
  for (const char *lower : kStandards) {
    if (standard == words.end()) break;
    const std::string_view now = std::string_view(*standard).substr(kStandard.size());
    if (packs::compare_versions(lower, now) >= 0) continue;
    std::vector<std::string> others = words;
    std::string &word = others[static_cast<std::size_t>(standard - words.begin())];
    word = std::string(kStandard) + lower;
    add(word, joined_options(others));
    break;  // what a lower one lacks, the text may need
  }
  packs::Variant by_il = variant;
  by_il.source.reset();
  if (variant.source && job_input(variant, device) == &*variant.source &&
      job_input(by_il, device) != nullptr) {
    all.push_back({"SPIR-V instead of source", std::move(by_il), true, true});
  }
  return all;
}

packs::KnownBad found_note(const packs::Program &program, const packs::Variant &variant,
                           const DeviceInfo &device, bool il_is_right) {
  packs::KnownBad note;
  note.rungs = packs::kFoundByBuild | bit(KILN_RUNG_SOURCE);
  if (!il_is_right) note.rungs |= bit(KILN_RUNG_IL);
  note[NoteText::program] = program.name;
  note[NoteText::variant] = variant.name;
  note[NoteText::profile] = device.description.profile;
  note[NoteText::family] = device.description.family;
  note[NoteText::model] = device.description.model;
  note[NoteText::driver_from] = device.identity.text(runtime::Field::driver_version);
  note[NoteText::driver_below] = just_above(note[NoteText::driver_from]);
  note[NoteText::compiler_from] = device.description.compiler;
  note[NoteText::compiler_below] = just_above(note[NoteText::compiler_from]);
  return note;
}

void keep_found(const packs::Contents &earlier, const std::vector<packs::KnownBad> &judged,
                packs::Contents *contents) {
  for (const packs::KnownBad &note : earlier.known_bad) {
    if (!packs::is_found(note.rungs)) continue;
    const packs::Variant *then = find_variant(earlier, note);
    const packs::Variant *now = find_variant(*contents, note);
    if (then == nullptr || now == nullptr || then->hash != now->hash) continue;
    const bool is_judged =
        std::any_of(judged.begin(), judged.end(),
                    [&](const packs::KnownBad &one) { return is_about_same(one, note); });
    if (!is_judged) packs::add_found(note, contents);
  }
}

}  // namespace kiln::builder

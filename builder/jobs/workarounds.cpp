// SPDX-License-Identifier: Apache-2.0
// Removes and adds build options; makes notes with exact names and versions.
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

}  // namespace kiln::builder

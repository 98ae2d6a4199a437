// SPDX-License-Identifier: Apache-2.0
// Finds the targets and programs that a request names; leaves out everything else.
#include "builder/inspect/pack_slice.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/printable.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/identity/note_match.hpp"

namespace kiln::builder {

namespace {

using packs::Contents;
using packs::Target;

std::string key_digits(std::string_view key) { return fmt::format("{:016x}", packs::xxh3(key)); }

bool names_target(const std::string &word, const Target &target) {
  const bool with_prefix = word.size() == 18 && word.starts_with("0x");
  std::string digits = with_prefix ? word.substr(2) : word;
  std::transform(digits.begin(), digits.end(), digits.begin(), packs::lower);
  if (digits == key_digits(target.key) || word == target.key) return true;
  if (word.empty()) return false;
  for (const std::string &name : {target_label(target), target.family, target.profile}) {
    if (glob_match(word, name)) return true;
  }
  return std::any_of(target.identity.begin(), target.identity.end(), [&](const auto &fact) {
    return (fact.first == "platform_name" || fact.first == "device_name") &&
           glob_match(word, fact.second);
  });
}

// Returns a line for each target: the hash of its key, its label, profile and family.
std::string list_targets(const Contents &contents) {
  std::string text;
  for (const Target &target : contents.targets) {
    const std::string line =
        fmt::format("{}  {}, profile {}{}{}", key_digits(target.key), target_label(target),
                    target.profile, target.family.empty() ? "" : ", family ", target.family);
    text += (text.empty() ? "  " : "\n  ") + printable_line(line);
  }
  return text;
}

Status choose_targets(const Contents &contents, const std::vector<std::string> &words, Cut *cut) {
  cut->devices.emplace();
  for (const std::string &word : words) {
    bool any = false;
    for (const Target &target : contents.targets) {
      if (!names_target(word, target)) continue;
      any = true;
      cut->devices->keys.insert(target.key);
      cut->devices->profiles.insert(target.profile);
    }
    if (any) continue;
    if (contents.targets.empty()) return {Code::not_in_pack, "the pack has no targets"};
    return {Code::not_in_pack,
            fmt::format("no target matches \"{}\"; there are:\n{}", word, list_targets(contents))};
  }
  return {};
}

Status choose_programs(const Contents &contents, const std::vector<std::string> &words, Cut *cut) {
  std::vector<std::string> names;
  for (const packs::Program &program : contents.programs) names.push_back(program.name);
  cut->programs.emplace();
  for (const std::string &word : words) {
    if (names.empty()) return {Code::not_in_pack, "the pack has no programs"};
    if (std::find(names.begin(), names.end(), word) == names.end()) {
      return {Code::not_in_pack,
              fmt::format("no program {}: {}", word, expected_one_of(word, names))};
    }
    cut->programs->insert(word);
  }
  return {};
}

// Keeps the known-bad notes that are about one of the names. A profile is enough for a device's
// notes: its driver may be updated.
void keep_notes(packs::NoteText which, const std::set<std::string> &names, Contents *contents) {
  std::erase_if(contents->known_bad, [&](const packs::KnownBad &note) {
    return std::none_of(names.begin(), names.end(), [&](const std::string &name) {
      return runtime::fits_name(note.view(), which, name);
    });
  });
}

void cut_programs(const std::set<std::string> &kept, Contents *contents) {
  std::set<packs::Digest> variants;
  std::erase_if(contents->programs, [&](const auto &p) { return kept.count(p.name) == 0; });
  for (const packs::Program &program : contents->programs) {
    for (const packs::Variant &variant : program.variants) variants.insert(variant.hash);
  }
  const auto other = [&](const packs::Binary &b) { return variants.count(b.variant) == 0; };
  std::erase_if(contents->targets, [&](Target &target) {
    const std::size_t gone =
        std::erase_if(target.binaries, other) + std::erase_if(target.intermediates, other);
    return gone != 0 && target.binaries.empty() && target.intermediates.empty();
  });
  std::erase_if(contents->tunings, [&](const auto &t) { return kept.count(t.program) == 0; });
  keep_notes(packs::NoteText::program, kept, contents);
}

void cut_forms(const Cut &cut, packs::Variant *variant) {
  if (cut.without_source) variant->source.reset();
  if (!cut.without_il) return;
  variant->il32.reset();
  variant->il64.reset();
  variant->il_version = 0;
}

void cut_devices(const Cut::Devices &kept, Contents *contents) {
  std::erase_if(contents->targets,
                [&](const Target &target) { return kept.keys.count(target.key) == 0; });
  std::erase_if(contents->tunings, [&](const packs::Tuning &tuning) {
    return !tuning.profile.empty() && kept.profiles.count(tuning.profile) == 0;
  });
  keep_notes(packs::NoteText::profile, kept.profiles, contents);
}

}  // namespace

Contents cut_contents(const Contents &contents, const Cut &cut) {
  Contents result = contents;
  if (cut.devices) cut_devices(*cut.devices, &result);
  if (cut.programs) cut_programs(*cut.programs, &result);
  for (packs::Program &program : result.programs) {
    for (packs::Variant &variant : program.variants) cut_forms(cut, &variant);
  }
  return result;
}

Result<Cut> find_slice(const Contents &contents, const SliceRequest &request) {
  Cut cut;
  if (!request.targets.empty()) {
    if (Status s = choose_targets(contents, request.targets, &cut); !s.ok()) return s;
  }
  if (!request.programs.empty()) {
    if (Status s = choose_programs(contents, request.programs, &cut); !s.ok()) return s;
  }
  return cut;
}

}  // namespace kiln::builder

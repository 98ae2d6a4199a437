// SPDX-License-Identifier: Apache-2.0
// Finds the hashes of the variants that notes name.
#include "kiln/packs/found_notes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kiln/packs/format.hpp"
#include "kiln/packs/text.hpp"
#include "packs/write/variants.hpp"

namespace kiln::packs {
namespace {

bool is_by_build(const KnownBad &note) { return is_found(note.rungs); }

// Returns the note without its reason and the versions that it is about.
KnownBad subject_of(KnownBad note) {
  for (const NoteText which :
       {NoteText::driver_from, NoteText::driver_below, NoteText::compiler_from,
        NoteText::compiler_below, NoteText::reason}) {
    note[which].clear();
  }
  return note;
}

// Returns whether both are about the same device and driver version.
bool is_about_same_driver(KnownBad a, const KnownBad &b) {
  for (const NoteText which : {NoteText::program, NoteText::variant, NoteText::reason}) {
    a[which] = b[which];
  }
  a.rungs = b.rungs;
  return a == b;
}

// Returns zeros if there is no variant of the note's names.
Digest hash_in(const Variants &variants, const KnownBad &note) {
  return variants.hash(note[NoteText::program], note[NoteText::variant]);
}

void add_for(const std::vector<NamedVariant> &variants, KnownBad note, Contents *contents) {
  for (const NamedVariant &named : variants) {
    note[NoteText::program] = named.program->name;
    note[NoteText::variant] = named.variant->name;
    add_found(note, contents);
  }
}

bool is_between(std::string_view version, const KnownBad &note, NoteText from, NoteText below) {
  return compare_versions(version, note[from]) >= 0 &&
         (note[below].empty() || compare_versions(version, note[below]) < 0);
}

std::string_view driver_of(const Target &target, const Binary &binary) {
  if (!binary.finish.driver.empty()) return binary.finish.driver;
  for (const auto &[name, value] : target.identity) {
    if (name == "driver_version") return value;
  }
  return {};
}

// Returns whether the note is about the device and driver that made the binary.
bool is_about(const KnownBad &note, const Target &target, const Binary &binary) {
  const auto fits = [&](NoteText which, std::string_view name) {
    return note[which].empty() || glob_match(note[which], name);
  };
  return fits(NoteText::profile, target.profile) && fits(NoteText::family, target.family) &&
         fits(NoteText::model, target.model) &&
         is_between(driver_of(target, binary), note, NoteText::driver_from,
                    NoteText::driver_below) &&
         is_between(target.compiler, note, NoteText::compiler_from, NoteText::compiler_below);
}

bool is_compared_for_all(const std::vector<NamedVariant> &variants, const Finish &finish) {
  return std::all_of(variants.begin(), variants.end(), [&](const NamedVariant &named) {
    return is_compared(*named.program, *named.variant, finish);
  });
}

}  // namespace

bool has_reference(const Program &program, const Variant &variant) {
  return !program.reference.empty() && !variant.launches &&
         program.reference != "variant:" + variant.name;
}

bool is_compared(const Program &program, const Variant &variant, const Finish &finish) {
  if (has_reference(program, variant)) return is_proof(finish.proof, true);
  return !finish.proof.empty() || !finish.proved_by.empty();
}

void add_found(KnownBad note, Contents *contents) {
  const KnownBad subject = subject_of(note);
  const auto known = std::find_if(
      contents->known_bad.begin(), contents->known_bad.end(),
      [&](const KnownBad &other) { return is_by_build(other) && subject_of(other) == subject; });
  if (known != contents->known_bad.end()) {
    const auto is_lower = [](const std::string &a, const std::string &b) {
      const int o = compare_versions(a, b);
      return o != 0 ? o < 0 : a < b;  // of two spellings always the same
    };
    for (const NoteText from : {NoteText::driver_from, NoteText::compiler_from}) {
      if (is_lower((*known)[from], note[from])) note[from] = (*known)[from];
    }
    for (const NoteText below : {NoteText::driver_below, NoteText::compiler_below}) {
      if (is_lower(note[below], (*known)[below])) note[below] = (*known)[below];
    }
    note[NoteText::reason] = std::min(note[NoteText::reason], (*known)[NoteText::reason]);
    contents->known_bad.erase(known);
  }
  contents->known_bad.insert(
      std::upper_bound(contents->known_bad.begin(), contents->known_bad.end(), note),
      std::move(note));
}

void keep_found(const Contents &earlier, const std::vector<Judged> &judged, Contents *contents) {
  if (std::none_of(earlier.known_bad.begin(), earlier.known_bad.end(), is_by_build)) return;
  const Variants then(earlier.programs), now(contents->programs);
  for (const KnownBad &note : earlier.known_bad) {
    const Digest hash = is_by_build(note) ? hash_in(then, note) : Digest{};
    if (hash == Digest{}) continue;
    const bool is_judged = std::any_of(judged.begin(), judged.end(), [&](const Judged &one) {
      return one.variant == hash && is_about_same_driver(one.note, note);
    });
    if (!is_judged) add_for(now.with(hash), note, contents);
  }
}

void settle_found(Contents *contents, std::vector<MergeChoice> *choices) {
  std::vector<KnownBad> notes;
  std::copy_if(contents->known_bad.begin(), contents->known_bad.end(), std::back_inserter(notes),
               is_by_build);
  if (notes.empty()) return;
  const Variants variants(contents->programs);
  std::multimap<Digest, const KnownBad *> by_hash;
  for (const KnownBad &note : notes) {
    if (const Digest hash = hash_in(variants, note); hash != Digest{}) {
      add_for(variants.with(hash), note, contents);
      by_hash.emplace(hash, &note);
    }
  }
  for (Target &target : contents->targets) {
    const auto remove_wrong = [&](MergeChoice::Part part, std::vector<Binary> *binaries) {
      std::erase_if(*binaries, [&](const Binary &binary) {
        const auto [begin, end] = by_hash.equal_range(binary.variant);
        const bool is_wrong = binary.finish.workaround.empty() &&
                              !is_compared_for_all(variants.with(binary.variant), binary.finish) &&
                              std::any_of(begin, end, [&](const auto &note) {
                                return is_about(*note.second, target, binary);
                              });
        if (is_wrong && choices != nullptr) {
          choices->push_back(
              {part, MergeRule::known_bad, binary.variant, target.key, {}, binary.blob.name()});
        }
        return is_wrong;
      });
    };
    remove_wrong(MergeChoice::Part::binary, &target.binaries);
    remove_wrong(MergeChoice::Part::intermediate, &target.intermediates);
  }
}

}  // namespace kiln::packs

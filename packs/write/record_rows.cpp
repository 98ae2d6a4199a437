// SPDX-License-Identifier: Apache-2.0
// Sorts the records, and puts each text that rows share into the root once.
#include "packs/write/record_rows.hpp"

#include <algorithm>

#include "packs/write/variants.hpp"

namespace kiln::packs {
namespace {

template <typename Record>
std::vector<const Record *> sorted(const std::vector<Record> &records) {
  std::vector<const Record *> result;
  for (const Record &record : records) result.push_back(&record);
  std::sort(result.begin(), result.end(),
            [](const Record *a, const Record *b) { return place_of(*a) < place_of(*b); });
  return result;
}

}  // namespace

RowTexts::RowTexts(const Contents &contents) {
  for (const Tuning &t : contents.tunings) {
    for (const std::string *text :
         {&t.program, &t.variant, &t.kernel, &t.profile, &t.family, &t.model, &t.conditions}) {
      texts_.emplace(*text, 0);
    }
  }
  for (const KnownBad &note : contents.known_bad) {
    for (const std::string &text : note.texts) texts_.emplace(text, 0);
  }
  for (const Program &program : contents.programs) {
    for (const Variant &variant : program.variants) {
      for (const Kernel &kernel : variant.kernels) {
        for (const Parameter &parameter : kernel.parameters) {
          texts_.emplace(parameter.name, 0);
          texts_.emplace(parameter.type, 0);
        }
      }
    }
  }
  std::uint32_t place = 0;
  for (auto &text : texts_) text.second = place++;
}

std::uint64_t RowTexts::size() const {
  std::uint64_t size = 0;
  for (const auto &text : texts_) size += text.first.size();
  return size;
}

std::vector<flatbuffers::Offset<flatbuffers::String>> RowTexts::add(
    flatbuffers::FlatBufferBuilder *root) const {
  std::vector<flatbuffers::Offset<flatbuffers::String>> strings;
  for (const auto &text : texts_) {
    strings.push_back(root->CreateString(text.first.data(), text.first.size()));
  }
  return strings;
}

flatbuffers::Offset<flatbuffers::Vector<const fb::Tuning *>> add_tunings(
    const std::vector<Tuning> &tunings, const RowTexts &texts,
    flatbuffers::FlatBufferBuilder *root) {
  if (tunings.empty()) return 0;
  std::vector<fb::Tuning> rows;
  for (const Tuning *t : sorted(tunings)) {
    const fb::Size3 local_size(t->local_size[0], t->local_size[1], t->local_size[2]);
    rows.emplace_back(t->key_hash, t->nanoseconds, t->default_nanoseconds, texts.index(t->program),
                      texts.index(t->variant), texts.index(t->kernel),
                      static_cast<std::uint32_t>(t->size_class), texts.index(t->profile),
                      texts.index(t->family), texts.index(t->model), texts.index(t->conditions),
                      local_size, t->samples, t->spread, 0);
  }
  return root->CreateVectorOfStructs(rows);
}

flatbuffers::Offset<flatbuffers::Vector<const fb::Hash *>> add_tuned_variants(
    const Contents &contents, flatbuffers::FlatBufferBuilder *root) {
  const Variants packed(contents.programs);
  std::vector<fb::Hash> rows;
  bool has_others = false;
  for (const Tuning *t : sorted(contents.tunings)) {
    const bool is_other = t->variant_hash != packed.hash(t->program, t->variant);
    rows.push_back(to_hash(is_other ? t->variant_hash : Digest{}));
    has_others = has_others || (is_other && t->variant_hash != Digest{});
  }
  if (!has_others) return 0;
  return root->CreateVectorOfStructs(rows);
}

flatbuffers::Offset<flatbuffers::Vector<const fb::KnownBad *>> add_known_bad(
    std::vector<KnownBad> notes, const RowTexts &texts, flatbuffers::FlatBufferBuilder *root) {
  if (notes.empty()) return 0;
  std::sort(notes.begin(), notes.end());
  notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
  std::vector<fb::KnownBad> rows;
  for (const KnownBad &note : notes) {
    std::array<std::uint32_t, kNoteTexts> places{};
    std::transform(note.texts.begin(), note.texts.end(), places.begin(),
                   [&](const std::string &text) { return texts.index(text); });
    rows.emplace_back(flatbuffers::span<const std::uint32_t, kNoteTexts>(places), note.rungs);
  }
  return root->CreateVectorOfStructs(rows);
}

flatbuffers::Offset<flatbuffers::Vector<const fb::Parameter *>> add_parameters(
    const std::vector<Parameter> &parameters, const RowTexts &texts,
    flatbuffers::FlatBufferBuilder *root) {
  if (parameters.empty()) return 0;
  std::vector<fb::Parameter> rows;
  for (const Parameter &p : parameters) {
    rows.emplace_back(texts.index(p.name), texts.index(p.type), p.size,
                      static_cast<std::uint8_t>(p.address_space),
                      static_cast<std::uint8_t>(p.access), p.qualifiers, 0);
  }
  return root->CreateVectorOfStructs(rows);
}

}  // namespace kiln::packs

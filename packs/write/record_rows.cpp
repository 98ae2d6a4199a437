// SPDX-License-Identifier: Apache-2.0
// Sorts the records, and puts each shared text into the root once.
#include "packs/write/record_rows.hpp"

#include <algorithm>
#include <map>
#include <string_view>

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

// Every text of the rows, each once; the value is the text's position in the order.
using Texts = std::map<std::string_view, std::uint32_t>;

Texts texts_of(const std::vector<Tuning> &tunings) {
  Texts texts;
  for (const Tuning &t : tunings) {
    for (const std::string *text :
         {&t.program, &t.variant, &t.kernel, &t.profile, &t.family, &t.model, &t.conditions}) {
      texts.emplace(*text, 0);
    }
  }
  std::uint32_t place = 0;
  for (auto &text : texts) text.second = place++;
  return texts;
}

}  // namespace

std::uint64_t text_size(const std::vector<Tuning> &tunings) {
  std::uint64_t size = 0;
  for (const auto &text : texts_of(tunings)) size += text.first.size();
  return size;
}

TuningRows add_rows(const std::vector<Tuning> &tunings, flatbuffers::FlatBufferBuilder *root) {
  if (tunings.empty()) return {};
  const Texts texts = texts_of(tunings);
  const auto index = [&](const std::string &text) { return texts.find(text)->second; };
  std::vector<fb::Tuning> rows;
  for (const Tuning *t : sorted(tunings)) {
    const fb::Size3 local_size(t->local_size[0], t->local_size[1], t->local_size[2]);
    rows.emplace_back(t->key_hash, t->nanoseconds, t->default_nanoseconds, index(t->program),
                      index(t->variant), index(t->kernel),
                      static_cast<std::uint32_t>(t->size_class), index(t->profile),
                      index(t->family), index(t->model), index(t->conditions), local_size,
                      t->samples, t->spread, 0);
  }
  std::vector<flatbuffers::Offset<flatbuffers::String>> strings;
  for (const auto &text : texts) {
    strings.push_back(root->CreateString(text.first.data(), text.first.size()));
  }
  const auto row_vector = root->CreateVectorOfStructs(rows);
  return {row_vector, root->CreateVector(strings)};
}

}  // namespace kiln::packs

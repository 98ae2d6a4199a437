// SPDX-License-Identifier: Apache-2.0
// Binary searches over the sorted rows of the root.
#include "kiln/packs/find_rows.hpp"

#include <iterator>
#include <string>

#include "kiln/packs/bytes.hpp"
#include "packs/read/partition_point.hpp"

namespace kiln::packs {
namespace {

// Returns the indices below `size` for which `order` is 0: negative before them, positive after.
template <typename Order>
Range equal_range(std::uint32_t size, Order order) {
  const std::uint32_t first =
      partition_point(0, size, [&](std::uint32_t i) { return order(i) < 0; });
  const std::uint32_t end =
      partition_point(first, size, [&](std::uint32_t i) { return order(i) == 0; });
  return {first, end - first};
}

}  // namespace

std::uint32_t find_text(const Pack &pack, std::string_view text) {
  const TextRefs texts(pack.schema().texts());
  const std::uint32_t i =
      partition_point(0, texts.size(), [&](std::uint32_t middle) { return texts[middle] < text; });
  return i < texts.size() && texts[i] == text ? i : texts.size();
}

std::string_view text_at(const Pack &pack, std::uint32_t number) {
  return text_of(*pack.schema().texts()->Get(number));
}

bool has_tunings(const Pack &pack) {
  return pack.schema().tunings() != nullptr && pack.schema().tunings()->size() != 0;
}

Range find_tunings(const Pack &pack, const TuningQuery &query, std::string_view profile) {
  const auto *rows = pack.schema().tunings();
  if (rows == nullptr) return {};
  const std::uint32_t wanted[] = {
      find_text(pack, query.program), find_text(pack, query.variant), find_text(pack, query.kernel),
      static_cast<std::uint32_t>(query.size_class), find_text(pack, profile)};
  return equal_range(rows->size(), [&](std::uint32_t i) {
    const fb::Tuning &row = *rows->Get(i);
    const std::uint32_t values[] = {row.program(), row.variant(), row.kernel(), row.size_class(),
                                    row.profile()};
    for (std::size_t k = 0; k < std::size(wanted); ++k) {
      if (values[k] != wanted[k]) return values[k] < wanted[k] ? -1 : 1;
    }
    return 0;
  });
}

bool is_of_packed_text(const Pack &pack, const TuningQuery &query, std::uint32_t index) {
  const auto *texts = pack.schema().tuned_variants();
  if (texts == nullptr) return true;
  const Digest measured = to_digest(*texts->Get(index));
  VariantRef variant;
  return measured == Digest{} || (pack.find_variant(query.program, query.variant, &variant).ok() &&
                                  variant && variant.hash() == measured);
}

TuningRef tuning_at(const Pack &pack, std::uint32_t index) {
  return TuningRef(pack.schema().tunings()->Get(index));
}

KnownBadRefs known_bad(const Pack &pack) { return KnownBadRefs(pack.schema().known_bad()); }

NoteView texts_of(const Pack &pack, KnownBadRef note) {
  NoteView texts;
  for (std::uint32_t i = 0; i < kNoteTexts; ++i) {
    texts[static_cast<NoteText>(i)] = text_at(pack, note.text(i));
  }
  return texts;
}

std::uint64_t program_hash(ProgramRef program) {
  if (!program) return 0;
  std::string text;
  for (const VariantRef variant : program.variants()) {
    const Digest hash = variant.hash();
    text.append(variant.name());
    text.push_back('\0');
    text.append(reinterpret_cast<const char *>(hash.data()), hash.size());
  }
  return xxh3(text);
}

}  // namespace kiln::packs

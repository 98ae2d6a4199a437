// SPDX-License-Identifier: Apache-2.0
// Reads and writes such a file, of which all numbers have 32 bits, little-endian:
//
//     size of the hash, the hash
//     64, and the offsets of 64 chains' first entries, 0 for none
//     entries: offset of the chain's next one or 0, size of options, size of binary, options,
//     binary
//
// Options are in the chain that the last 6 bits of their CRC name.
#include "builder/caches/opencv_file.hpp"

#include <array>
#include <limits>

#include "builder/caches/cache_files.hpp"
#include "builder/caches/digests.hpp"

namespace kiln::builder {
namespace {

constexpr std::size_t kChains = 64;
constexpr std::size_t kWord = sizeof(std::uint32_t);
constexpr std::size_t kEntryHeader = 3 * kWord;

Status not_opencv(const char *why) {
  return {Code::bad_input, std::string("it is not as OpenCV writes it: ") + why};
}

std::size_t chain_of(std::string_view options) { return crc64(options) % kChains; }

// `at` is within the file, with kWord bytes.
std::uint32_t word_at(packs::View file, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kWord; ++i) value |= std::uint32_t{file.data[at + i]} << (8 * i);
  return value;
}

// Whether `size` bytes from `at` are within the file; for any numbers.
bool has(packs::View file, std::uint64_t at, std::uint64_t size) {
  return at <= file.size && size <= file.size - at;
}

// The offset behind the hash.
Result<std::size_t> check_hash(packs::View file, std::string_view source_hash) {
  if (!has(file, 0, kWord)) return not_opencv("it is cut short");
  const std::uint32_t size = word_at(file, 0);
  if (!has(file, kWord, size)) return not_opencv("it is cut short");
  if (text_of(file).substr(kWord, size) == source_hash) return kWord + size;
  return Status(Code::bad_input, "it is of another source");
}

// One chain's entries, from the one at `at`. `*left`: bytes of the file that are in no entry yet.
Status read_chain(packs::View file, std::size_t chain, std::uint32_t at, std::uint64_t *left,
                  std::vector<OpencvEntry> *entries) {
  while (at != 0) {
    if (!has(file, at, kEntryHeader)) return not_opencv("an entry is outside");
    const std::uint32_t next = word_at(file, at);
    const std::uint32_t options_size = word_at(file, at + kWord);
    const std::uint32_t binary_size = word_at(file, at + 2 * kWord);
    const std::uint64_t options = std::uint64_t{at} + kEntryHeader;
    const std::uint64_t size = std::uint64_t{options_size} + binary_size;
    if (!has(file, options, size)) return not_opencv("an entry is cut short");
    if (kEntryHeader + size > *left) return not_opencv("entries overlap");
    *left -= kEntryHeader + size;
    const auto *binary = file.data + options + options_size;
    entries->push_back({std::string(text_of(file).substr(options, options_size)),
                        packs::Bytes(binary, binary + binary_size)});
    if (chain_of(entries->back().options) != chain) return not_opencv("an entry is misplaced");
    at = next;
  }
  return {};
}

}  // namespace

Result<std::vector<OpencvEntry>> read_opencv_file(packs::View file, std::string_view source_hash) {
  const auto table = check_hash(file, source_hash);
  if (!table.ok()) return table.status();
  if (!has(file, *table, kWord * (1 + kChains)) || word_at(file, *table) != kChains) {
    return not_opencv("it has no table of 64 chains");
  }
  std::vector<OpencvEntry> entries;
  std::uint64_t left = file.size - *table - kWord * (1 + kChains);
  for (std::size_t chain = 0; chain < kChains; ++chain) {
    const std::uint32_t first = word_at(file, *table + kWord * (1 + chain));
    if (Status s = read_chain(file, chain, first, &left, &entries); !s.ok()) return s;
  }
  return entries;
}

Result<std::string> opencv_file(const std::vector<OpencvEntry> &entries,
                                std::string_view source_hash) {
  std::uint64_t end = kWord * (2 + kChains) + source_hash.size();
  std::vector<std::uint32_t> offsets;
  for (const OpencvEntry &entry : entries) {
    offsets.push_back(static_cast<std::uint32_t>(end));
    end += kEntryHeader + entry.options.size() + entry.binary.size();
    if (end > std::numeric_limits<std::uint32_t>::max()) {
      return Status(Code::bad_input, "OpenCV's files are smaller than 4 GiB");
    }
  }
  // From the last to the first: each entry then knows the next one of its chain.
  std::array<std::uint32_t, kChains> first{};
  std::vector<std::uint32_t> next(entries.size());
  for (std::size_t i = entries.size(); i-- > 0;) {
    std::uint32_t &chain = first[chain_of(entries[i].options)];
    next[i] = chain;
    chain = offsets[i];
  }
  std::string file;
  file.reserve(end);
  append_u32(static_cast<std::uint32_t>(source_hash.size()), &file);
  file += source_hash;
  append_u32(kChains, &file);
  for (const std::uint32_t offset : first) append_u32(offset, &file);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    append_u32(next[i], &file);
    append_u32(static_cast<std::uint32_t>(entries[i].options.size()), &file);
    append_u32(static_cast<std::uint32_t>(entries[i].binary.size()), &file);
    file += entries[i].options;
    file += text_of({entries[i].binary.data(), entries[i].binary.size()});
  }
  return file;
}

}  // namespace kiln::builder

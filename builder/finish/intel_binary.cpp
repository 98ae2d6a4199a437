// SPDX-License-Identifier: Apache-2.0
// Cuts a section out of an ELF file. Every offset and size is checked before it is used.
#include "builder/finish/intel_binary.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace kiln::builder {
namespace {

// Of a 64-bit little-endian ELF file: the size of its header and of a section's header, the place
// of fields in them, and Intel's type of a section of SPIR-V.
constexpr std::uint64_t kHeader = 64, kEntry = 64;
constexpr std::uint64_t kTable = 40, kSegments = 56, kEntrySize = 58, kCount = 60;
constexpr std::uint64_t kType = 4, kOffset = 24, kSize = 32;
constexpr std::uint64_t kNoBits = 8, kSpirv = 0xff000009;
// Cut a multiple of it, so that what follows keeps its alignment.
constexpr std::uint64_t kAlignment = 64;

std::uint64_t load(const packs::Bytes &file, std::uint64_t at, unsigned size) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < size; ++i) value |= std::uint64_t{file[at + i]} << (8 * i);
  return value;
}

void store(packs::Bytes *file, std::uint64_t at, std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) (*file)[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

struct Part {
  std::uint64_t start = 0, size = 0;

  std::uint64_t end() const { return start + size; }
  bool is_within(std::uint64_t whole) const { return start <= whole && size <= whole - start; }
  bool overlaps(const Part &other) const { return start < other.end() && other.start < end(); }
};

}  // namespace

std::optional<packs::Bytes> without_spirv(packs::View binary) {
  constexpr std::string_view kMagic(
      "\x7f"
      "ELF\x02\x01",
      6);
  if (binary.size < kHeader || std::memcmp(binary.data, kMagic.data(), kMagic.size()) != 0) {
    return std::nullopt;
  }
  packs::Bytes file(binary.data, binary.data + binary.size);
  const std::uint64_t count = load(file, kCount, 2);
  const Part table{load(file, kTable, 8), count * kEntry};
  if (load(file, kSegments, 2) != 0 || load(file, kEntrySize, 2) != kEntry ||
      table.start < kHeader || !table.is_within(file.size())) {
    return std::nullopt;
  }
  std::vector<Part> parts{table};  // then the sections, by number
  std::uint64_t spirv = 0;         // number of the section
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = table.start + i * kEntry, type = load(file, at + kType, 4);
    Part part{load(file, at + kOffset, 8), load(file, at + kSize, 8)};
    if (type == 0 || type == kNoBits) part.size = 0;
    if (!part.is_within(file.size())) return std::nullopt;
    parts.push_back(part);
    if (type != kSpirv) continue;
    if (spirv != 0) return std::nullopt;
    spirv = i + 1;
  }
  if (spirv == 0) return std::nullopt;
  const Part gone = parts[spirv];
  for (std::uint64_t i = 0; i < parts.size(); ++i) {
    if (i != spirv && parts[i].overlaps(gone)) return std::nullopt;
  }
  const std::uint64_t cut = gone.size / kAlignment * kAlignment;
  if (gone.start < kHeader || cut == 0) return std::nullopt;
  const auto place = [&](std::uint64_t start) { return start < gone.end() ? start : start - cut; };
  for (std::uint64_t i = 0; i < count; ++i) {
    store(&file, table.start + i * kEntry + kOffset, place(parts[i + 1].start));
  }
  store(&file, table.start + (spirv - 1) * kEntry + kSize, 0);
  store(&file, kTable, place(table.start));
  const auto begin = file.begin() + static_cast<std::ptrdiff_t>(gone.start);
  std::fill(begin, begin + static_cast<std::ptrdiff_t>(gone.size), std::uint8_t{0});
  file.erase(begin, begin + static_cast<std::ptrdiff_t>(cut));
  return file;
}

bool drop_spirv(packs::Binary *binary) {
  packs::Bytes bytes;
  (void)binary->blob.read(&bytes);  // in memory: it cannot fail
  auto smaller = without_spirv({bytes.data(), bytes.size()});
  if (!smaller) return false;
  binary->blob = packs::BlobSource(*std::move(smaller));
  packs::Finish &finish = binary->finish;
  finish.finisher += finish.finisher.empty() ? kWithoutSpirv : std::string(", ") + kWithoutSpirv;
  finish.unfinished_size = bytes.size();
  return true;
}

}  // namespace kiln::builder

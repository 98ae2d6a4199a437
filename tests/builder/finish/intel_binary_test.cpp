// SPDX-License-Identifier: Apache-2.0
// Leaving SPIR-V out of ELF files that are made here as Intel's compilers lay them out: with the
// table of sections in front or behind.
#include "builder/finish/intel_binary.hpp"

#include <string>

#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::builder;
using packs::Bytes;

namespace {

constexpr std::uint64_t kSpirvType = 0xff000009;

struct IntelSection {
  std::uint64_t type;
  std::string bytes;
};

void put_field(Bytes *out, std::uint64_t at, std::uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) (*out)[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

std::uint64_t field(const Bytes &in, std::uint64_t at, unsigned size) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < size; ++i) value |= std::uint64_t{in[at + i]} << (8 * i);
  return value;
}

Bytes intel_elf(const std::vector<IntelSection> &sections, bool table_in_front) {
  const std::string magic(
      "\x7f"
      "ELF\x02\x01",
      6);
  Bytes out(64 + (table_in_front ? 64 * sections.size() : 0));
  std::vector<std::uint64_t> offsets;
  for (const IntelSection &section : sections) {
    out.resize((out.size() + 7) / 8 * 8);
    offsets.push_back(out.size());
    out.insert(out.end(), section.bytes.begin(), section.bytes.end());
  }
  const std::uint64_t table = table_in_front ? 64 : (out.size() + 7) / 8 * 8;
  if (!table_in_front) out.resize(table + 64 * sections.size());
  std::copy(magic.begin(), magic.end(), out.begin());
  put_field(&out, 40, table, 8);
  put_field(&out, 58, 64, 2);
  put_field(&out, 60, sections.size(), 2);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    put_field(&out, table + 64 * i + 4, sections[i].type, 4);
    put_field(&out, table + 64 * i + 24, offsets[i], 8);
    put_field(&out, table + 64 * i + 32, sections[i].bytes.size(), 8);
  }
  return out;
}

std::vector<std::string> contents_of(const Bytes &file) {
  std::vector<std::string> all;
  const std::uint64_t table = field(file, 40, 8);
  for (std::uint64_t i = 0; i < field(file, 60, 2); ++i) {
    const std::uint64_t at = field(file, table + 64 * i + 24, 8);
    const std::uint64_t size = field(file, table + 64 * i + 32, 8);
    REQUIRE(at % 8 == 0);
    REQUIRE(at + size <= file.size());
    all.emplace_back(file.begin() + static_cast<std::ptrdiff_t>(at),
                     file.begin() + static_cast<std::ptrdiff_t>(at + size));
  }
  return all;
}

std::optional<Bytes> cut(const Bytes &file) { return without_spirv({file.data(), file.size()}); }

}  // namespace

TEST_CASE("only the SPIR-V goes, wherever the table of sections is") {
  const std::string spirv(200, 's');
  for (const bool in_front : {true, false}) {
    const Bytes file =
        intel_elf({{1, "code"}, {kSpirvType, spirv}, {3, "a note"}, {1, "names"}}, in_front);
    const auto smaller = cut(file);
    REQUIRE(smaller);
    CHECK(smaller->size() == file.size() - 192);
    CHECK(contents_of(*smaller) == std::vector<std::string>{"code", "", "a note", "names"});
    CHECK(std::count(smaller->begin(), smaller->end(), 's') == 1);  // in "names"
    CHECK_FALSE(cut(*smaller));
  }
}

TEST_CASE("a file stays as it is that is no such ELF file, has no SPIR-V, or two") {
  const std::string spirv(200, 's');
  CHECK_FALSE(cut({}));
  CHECK_FALSE(cut(Bytes(200, 'x')));
  CHECK_FALSE(cut(intel_elf({{1, "code"}, {1, spirv}}, true)));
  CHECK_FALSE(cut(intel_elf({{1, "code"}, {kSpirvType, "short"}}, true)));
  CHECK_FALSE(cut(intel_elf({{kSpirvType, spirv}, {kSpirvType, spirv}}, true)));
}

TEST_CASE("a file whose parts overlap, or are not all there, stays as it is") {
  const Bytes sound = intel_elf({{1, "code"}, {kSpirvType, std::string(200, 's')}}, true);
  REQUIRE(cut(sound));
  const std::uint64_t code = 64, spirv = 128;  // the sections' headers
  const auto changed = [&](std::uint64_t at, std::uint64_t value, unsigned size) {
    Bytes file = sound;
    put_field(&file, at, value, size);
    return file;
  };
  CHECK_FALSE(cut(changed(code + 32, 9, 8)));          // reaches into the SPIR-V
  CHECK_FALSE(cut(changed(spirv + 24, 100, 8)));       // in the table
  CHECK_FALSE(cut(changed(spirv + 24, 0, 8)));         // in the header
  CHECK_FALSE(cut(changed(spirv + 32, ~0ULL, 8)));     // too long
  CHECK_FALSE(cut(changed(code + 24, ~0ULL - 1, 8)));  // beyond the end
  CHECK_FALSE(cut(changed(40, ~0ULL - 10, 8)));        // the table is
  CHECK_FALSE(cut(changed(60, 0xffff, 2)));            // too many sections
  CHECK_FALSE(cut(changed(58, 32, 2)));                // of another size
  CHECK_FALSE(cut(changed(56, 1, 2)));                 // has a program header
  for (std::size_t size = 0; size < sound.size(); ++size) {
    CHECK_FALSE(cut(Bytes(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(size))));
  }
}

TEST_CASE("the finish says that the SPIR-V is left out, and how large the binary was") {
  const Bytes file = intel_elf({{1, "code"}, {kSpirvType, std::string(200, 's')}}, true);
  packs::Binary binary{{}, packs::BlobSource(file), {}};
  REQUIRE(drop_spirv(&binary));
  CHECK(binary.finish.finisher == "intel-without-spirv 1");
  CHECK(binary.finish.unfinished_size == file.size());
  CHECK_FALSE(drop_spirv(&binary));
  packs::Binary made{{}, packs::BlobSource(file), {}};
  made.finish.finisher = "virtual-described 1, ocloc 22.43";
  REQUIRE(drop_spirv(&made));
  CHECK(made.finish.finisher == "virtual-described 1, ocloc 22.43, intel-without-spirv 1");
}

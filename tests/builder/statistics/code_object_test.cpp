// SPDX-License-Identifier: Apache-2.0
// What compilers write into their binaries: ELF files made here, with sections as the compilers
// write them.
#include "builder/statistics/code_object.hpp"

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::builder;
using packs::Bytes;
using packs::StatisticName;

namespace {

struct ElfPart {
  std::string name;
  std::string bytes;
  std::uint32_t link = 0;
};

void put(Bytes *out, std::uint64_t at, std::uint64_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) (*out)[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

// Returns an ELF file with these sections; the last one, with their names, is added.
Bytes elf(std::vector<ElfPart> parts) {
  std::string names;
  std::vector<std::size_t> places;
  parts.push_back({".shstrtab", ""});
  for (const ElfPart &part : parts) {
    places.push_back(names.size());
    names += part.name + '\0';
  }
  parts.back().bytes = names;
  Bytes out(64);
  std::vector<std::size_t> offsets;
  for (const ElfPart &part : parts) {
    offsets.push_back(out.size());
    out.insert(out.end(), part.bytes.begin(), part.bytes.end());
  }
  const std::size_t table = out.size();
  out.resize(table + 64 * parts.size());
  const std::string magic(
      "\x7f"
      "ELF\x02\x01",
      6);
  std::copy(magic.begin(), magic.end(), out.begin());
  put(&out, 40, table, 8);
  put(&out, 58, 64, 2);
  put(&out, 60, parts.size(), 2);
  put(&out, 62, parts.size() - 1, 2);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t at = table + 64 * i;
    put(&out, at, places[i], 4);
    put(&out, at + 4, 1, 4);
    put(&out, at + 24, offsets[i], 8);
    put(&out, at + 32, parts[i].bytes.size(), 8);
    put(&out, at + 40, parts[i].link, 4);
  }
  return out;
}

Figures read(const Bytes &bytes) { return figures_in_binary({bytes.data(), bytes.size()}); }

std::string word(std::uint64_t value, unsigned size = 4) {
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += static_cast<char>(value >> (8 * i) & 255);
  return text;
}

// As Intel's driver 24.35 writes it, shortened.
const char kZeInfo[] = R"(---
version:         '1.49'
kernels:
  - name:            second
    execution_env:
      grf_count:       128
      simd_size:       32
      slm_size:        256
    payload_arguments:
      - arg_type:        local_size
        offset:          12
        size:            12
    per_thread_memory_buffers:
      - type:            scratch
        usage:           single_space
        size:            131072
  - name:            first
    execution_env:
      grf_count:       256
      spill_size:      13952
kernels_misc_info:
  - name:            second
    args_info:
      - index:           0
        size:            77
...
)";

Bytes amd_object(const nlohmann::json &metadata) {
  const auto packed = nlohmann::json::to_msgpack(metadata);
  std::string bytes(packed.begin(), packed.end());
  const std::string size = word(bytes.size());
  bytes.resize((bytes.size() + 3) / 4 * 4);
  const std::string other = word(4) + word(2) + word(1) + std::string("GNU\0ab\0\0", 8);
  return elf({{".note", other + word(7) + size + word(32) + std::string("AMDGPU\0\0", 8) + bytes}});
}

// A cubin's .nv.info: of the symbol 1, 40 registers and a frame of 800 bytes; before them an
// attribute without and one with another size.
Bytes cubin() {
  std::string symbols(24, '\0');
  symbols += word(1) + std::string(20, '\0');
  const std::string info = word(0x00003603) + word(0x00040a04) + word(7) + word(0x00082f04) +
                           word(1) + word(40) + word(0x00081104) + word(1) + word(800);
  return elf({{".strtab", std::string("\0blur\0", 6)},
              {".symtab", symbols, 0},
              {".nv.info", info, 1},
              {".text.blur", std::string(96, 'c')}});
}

}  // namespace

TEST_CASE("Intel's .ze_info tells registers, spills and memory of each kernel", "[statistics]") {
  const Figures figures = read(elf({{".text.first", "12345678"}, {".ze_info", kZeInfo}}));
  CHECK(figures == Figures{{"first", StatisticName::code_bytes, 8},
                           {"second", StatisticName::registers, 128},
                           {"second", StatisticName::spills, 0},
                           {"second", StatisticName::scratch_bytes, 131072},
                           {"second", StatisticName::local_bytes, 256},
                           {"first", StatisticName::registers, 256},
                           {"first", StatisticName::spills, 13952},
                           {"first", StatisticName::scratch_bytes, 0},
                           {"first", StatisticName::local_bytes, 0}});
}

TEST_CASE("an earlier .ze_info that names no spills tells nothing about them", "[statistics]") {
  std::string earlier = kZeInfo;
  earlier.replace(earlier.find("1.49"), 4, "1.14");
  const Figures figures = read(elf({{".ze_info", earlier}}));
  const auto spills = [&](const std::string &kernel) {
    return std::count_if(figures.begin(), figures.end(), [&](const Figure &f) {
      return f.kernel == kernel && f.name == StatisticName::spills;
    });
  };
  CHECK(spills("second") == 0);
  CHECK(spills("first") == 1);
}

TEST_CASE("AMD's notes tell registers, spills and memory of each kernel", "[statistics]") {
  const nlohmann::json blur = {{".name", "blur"},
                               {".sgpr_count", 36},
                               {".sgpr_spill_count", 3},
                               {".vgpr_count", 13},
                               {".vgpr_spill_count", 4},
                               {".group_segment_fixed_size", 256},
                               {".private_segment_fixed_size", 804}};
  const nlohmann::json odd = {{".name", "odd"}, {".vgpr_count", "many"}, {".sgpr_spill_count", 1}};
  CHECK(read(amd_object({{"amdhsa.kernels", {blur, 5, odd}}})) ==
        Figures{{"blur", StatisticName::registers, 13},
                {"blur", StatisticName::spills, 7},
                {"blur", StatisticName::scratch_bytes, 804},
                {"blur", StatisticName::local_bytes, 256}});
  CHECK(read(amd_object({{"amdhsa.kernels", 7}})).empty());
  CHECK(read(amd_object("text")).empty());
}

TEST_CASE("a cubin tells registers, stack and code of each kernel", "[statistics]") {
  CHECK(read(cubin()) == Figures{{"blur", StatisticName::code_bytes, 96},
                                 {"blur", StatisticName::registers, 40},
                                 {"blur", StatisticName::scratch_bytes, 800}});
}

TEST_CASE("other bytes tell nothing, and damaged ones do no harm", "[statistics]") {
  CHECK(read({}).empty());
  CHECK(read(Bytes(4096, 0xff)).empty());
  CHECK(read(elf({{".rodata", "x"}})).empty());
  for (const Bytes &whole : {cubin(), elf({{".ze_info", kZeInfo}}),
                             amd_object({{"amdhsa.kernels", {{{".name", "blur"}}}}})}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      (void)read(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      Bytes changed = whole;
      changed[size] ^= 0xff;
      (void)read(changed);
    }
  }
}

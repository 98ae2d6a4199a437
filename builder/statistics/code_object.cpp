// SPDX-License-Identifier: Apache-2.0
// Reads the sections of ELF files, of which each compiler uses others. Every offset and size is
// checked before it is used.
#include "builder/statistics/code_object.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kiln::builder {
namespace {

using packs::StatisticName;
using packs::View;

std::string_view text_of(View bytes) {
  return {reinterpret_cast<const char *>(bytes.data), static_cast<std::size_t>(bytes.size)};
}

// Reads a little-endian number; 0 beyond the end.
std::uint64_t number_at(View bytes, std::uint64_t at, unsigned size) {
  if (at > bytes.size || bytes.size - at < size) return 0;
  std::uint64_t value = 0;
  for (unsigned i = 0; i < size; ++i) value |= std::uint64_t{bytes.data[at + i]} << (8 * i);
  return value;
}

// Returns a part of the bytes; empty if it is not all there.
View part_of(View bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size || bytes.size - at < size) return {nullptr, 0};
  return {bytes.data + at, size};
}

struct Section {
  std::string_view name;
  std::uint64_t type = 0, size = 0, link = 0;
  View bytes{nullptr, 0};  // empty if the file has none for it
};

std::string_view text_at(View texts, std::uint64_t at) {
  const std::string_view all = text_of(texts);
  if (at >= all.size()) return {};
  return all.substr(at, all.find('\0', at) - at);
}

// Returns the sections of a 64-bit little-endian ELF file; none of other bytes.
std::vector<Section> sections_of(View file) {
  constexpr std::string_view kMagic(
      "\x7f"
      "ELF\x02\x01",
      6);
  constexpr std::uint64_t kEntry = 64, kNoBits = 8;
  std::vector<Section> sections;
  if (!text_of(file).starts_with(kMagic)) return sections;
  const std::uint64_t table = number_at(file, 40, 8), count = number_at(file, 60, 2);
  const std::uint64_t names = number_at(file, 62, 2);
  std::vector<std::uint64_t> name_offsets;
  for (std::uint64_t i = 0; i < count && number_at(file, 58, 2) == kEntry; ++i) {
    const View entry = part_of(file, table, (i + 1) * kEntry);
    if (entry.size == 0) return {};
    const View own = part_of(entry, i * kEntry, kEntry);
    Section section{{}, number_at(own, 4, 4), number_at(own, 32, 8), number_at(own, 40, 4)};
    if (section.type != kNoBits) section.bytes = part_of(file, number_at(own, 24, 8), section.size);
    name_offsets.push_back(number_at(own, 0, 4));
    sections.push_back(section);
  }
  if (names >= sections.size()) return {};
  for (std::size_t i = 0; i < sections.size(); ++i) {
    sections[i].name = text_at(sections[names].bytes, name_offsets[i]);
  }
  return sections;
}

const Section *find(const std::vector<Section> &sections, std::string_view name) {
  for (const Section &section : sections) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

// Adds the size of each kernel's own section of code, ".text.NAME".
void add_code_sizes(const std::vector<Section> &sections, Figures *figures) {
  constexpr std::string_view kText = ".text.";
  for (const Section &section : sections) {
    if (!section.name.starts_with(kText) || section.name.size() == kText.size()) continue;
    figures->push_back(
        {std::string(section.name.substr(kText.size())), StatisticName::code_bytes, section.size});
  }
}

std::optional<std::uint64_t> decimal_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t start = text.find_first_not_of(' ');
  if (start == text.npos) return {};
  return text.substr(start, text.find_last_not_of(" \r") + 1 - start);
}

// One kernel of .ze_info. A size that is absent is 0.
struct ZeKernel {
  std::string name;
  std::uint64_t registers = 0, local = 0, scratch = 0;
  std::optional<std::uint64_t> spills{};
};

void add_ze_kernel(const ZeKernel &kernel, Figures *figures) {
  if (kernel.name.empty() || kernel.registers == 0) return;
  figures->push_back({kernel.name, StatisticName::registers, kernel.registers});
  if (kernel.spills) figures->push_back({kernel.name, StatisticName::spills, *kernel.spills});
  figures->push_back({kernel.name, StatisticName::scratch_bytes, kernel.scratch});
  figures->push_back({kernel.name, StatisticName::local_bytes, kernel.local});
}

// Reads the YAML that Intel's compiler writes: a key and a value on each line, and a kernel begins
// with "  - name:".
void add_ze_info(std::string_view yaml, Figures *figures) {
  constexpr std::string_view kVersion = "'1.";
  constexpr std::uint64_t kTellsSpills = 49;  // the earliest that was seen to tell them
  ZeKernel kernel;
  std::optional<std::uint64_t> unspilled;  // what absence of a size means
  bool in_kernels = false, in_scratch = false;
  while (!yaml.empty()) {
    const std::string_view line = yaml.substr(0, yaml.find('\n'));
    yaml.remove_prefix(std::min(line.size() + 1, yaml.size()));
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view key = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
    if (!key.starts_with(' ')) {
      add_ze_kernel(std::exchange(kernel, {}), figures);
      in_kernels = key == "kernels";
    }
    if (key == "version" && value.starts_with(kVersion) && value.ends_with("'")) {
      const std::string_view minor = value.substr(kVersion.size(), value.size() - 4);
      if (decimal_of(minor).value_or(0) >= kTellsSpills) unspilled = 0;
    }
    if (!in_kernels) continue;
    const std::string_view word = trimmed(key);
    if (key == "  - name") {
      add_ze_kernel(std::exchange(kernel, {}), figures);
      const bool quoted = value.size() > 1 && value.front() == '\'' && value.back() == '\'';
      kernel.spills = unspilled;
      kernel.name = quoted ? value.substr(1, value.size() - 2) : value;
    }
    if (word.starts_with("- ")) in_scratch = word == "- type" && value == "scratch";
    const std::uint64_t number = decimal_of(value).value_or(0);
    if (word == "grf_count") kernel.registers = number;
    if (word == "spill_size") kernel.spills = number;
    if (word == "slm_size") kernel.local = number;
    if (word == "size" && in_scratch) kernel.scratch += number;
  }
  add_ze_kernel(kernel, figures);
}

// Returns the descriptor of the note by that owner and of that type; empty if there is none.
View note_of(View notes, std::string_view owner, std::uint64_t type) {
  const auto aligned = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
  for (std::uint64_t at = 0; at < notes.size && notes.size - at >= 12;) {
    const std::uint64_t names = number_at(notes, at, 4), size = number_at(notes, at + 4, 4);
    const std::uint64_t start = at + 12 + aligned(names);
    const View name = part_of(notes, at + 12, names);
    if (text_of(name).starts_with(owner) && number_at(notes, at + 8, 4) == type) {
      return part_of(notes, start, size);
    }
    at = start + aligned(size);
  }
  return {nullptr, 0};
}

// Reads the MessagePack of AMD's note. A member that is no number gives no figure.
void add_amd_notes(View note, Figures *figures) {
  using nlohmann::json;
  const json metadata = json::from_msgpack(note.data, note.data + note.size, true, false);
  if (!metadata.is_object() || !metadata.contains("amdhsa.kernels")) return;
  const auto add = [&](const json &kernel, StatisticName name,
                       std::initializer_list<const char *> members) {
    std::uint64_t sum = 0;
    for (const char *member : members) {
      const auto found = kernel.find(member);
      if (found == kernel.end() || !found->is_number_unsigned()) return;
      sum += found->get<std::uint64_t>();
    }
    figures->push_back({kernel[".name"], name, sum});
  };
  for (const json &kernel : metadata["amdhsa.kernels"]) {
    if (!kernel.is_object() || !kernel.contains(".name") || !kernel[".name"].is_string()) continue;
    add(kernel, StatisticName::registers, {".vgpr_count"});
    add(kernel, StatisticName::spills, {".sgpr_spill_count", ".vgpr_spill_count"});
    add(kernel, StatisticName::scratch_bytes, {".private_segment_fixed_size"});
    add(kernel, StatisticName::local_bytes, {".group_segment_fixed_size"});
  }
}

// Reads the attributes of .nv.info: a byte for the form, one for the kind, and two more, which are
// the size of what follows if the form is 4. The two kinds here name a symbol, then the figure.
void add_nv_info(const std::vector<Section> &sections, const Section &info, Figures *figures) {
  constexpr std::uint64_t kSized = 4, kFrameSize = 0x11, kRegisters = 0x2f, kSymbol = 24;
  if (info.link >= sections.size() || sections[info.link].link >= sections.size()) return;
  const View symbols = sections[info.link].bytes;
  const View names = sections[sections[info.link].link].bytes;
  for (std::uint64_t at = 0; at + 4 <= info.bytes.size;) {
    const std::uint64_t form = number_at(info.bytes, at, 1),
                        kind = number_at(info.bytes, at + 1, 1);
    const std::uint64_t size = form == kSized ? number_at(info.bytes, at + 2, 2) : 0;
    if (size == 8 && (kind == kFrameSize || kind == kRegisters)) {
      const std::uint64_t symbol = number_at(info.bytes, at + 4, 4) * kSymbol;
      figures->push_back(
          {std::string(text_at(names, number_at(symbols, symbol, 4))),
           kind == kRegisters ? StatisticName::registers : StatisticName::scratch_bytes,
           number_at(info.bytes, at + 8, 4)});
    }
    at += 4 + size;
  }
}

}  // namespace

Figures figures_in_binary(View binary) {
  constexpr std::uint64_t kAmdMetadata = 32;
  Figures figures;
  const std::vector<Section> sections = sections_of(binary);
  add_code_sizes(sections, &figures);
  if (const Section *info = find(sections, ".ze_info")) {
    add_ze_info(text_of(info->bytes), &figures);
  }
  if (const Section *notes = find(sections, ".note")) {
    const View note = note_of(notes->bytes, "AMDGPU", kAmdMetadata);
    if (note.size != 0) add_amd_notes(note, &figures);
  }
  if (const Section *info = find(sections, ".nv.info")) add_nv_info(sections, *info, &figures);
  return figures;
}

}  // namespace kiln::builder

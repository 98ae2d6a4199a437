// SPDX-License-Identifier: Apache-2.0
// Makes the names of folders and files, and the bytes of files, as OpenCV does.
#include "builder/caches/opencv.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace kiln::builder {
namespace {

using runtime::Field;

constexpr std::size_t kMd5Digits = 32;
constexpr std::size_t kLeastCrcDigits = 8;
constexpr std::size_t kMostCrcDigits = 16;
constexpr char kBin[] = ".bin";

// The layout of a file; all numbers have 32 bits, little-endian:
//
//     size of the hash, the hash
//     64, then for each of 64 chains the offset of its first entry, 0 if the chain is empty
//     entries: offset of the chain's next entry or 0, size of options, size of binary, options,
//     binary
//
// The last 6 bits of the CRC of an entry's options are the number of its chain.
constexpr std::size_t kChains = 64;
constexpr std::size_t kWord = sizeof(std::uint32_t);
constexpr std::size_t kEntryHeader = 3 * kWord;

Status not_opencv(const char *why) {
  return {Code::bad_input, std::string("it is not as OpenCV writes it: ") + why};
}

std::size_t chain_of(std::string_view options) { return crc64(options) % kChains; }

// Reads the number at `at`; the file must have kWord bytes from there.
std::uint32_t word_at(packs::View file, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < kWord; ++i) value |= std::uint32_t{file.data[at + i]} << (8 * i);
  return value;
}

// Whether `size` bytes from `at` are within the file; accepts any numbers.
bool has(packs::View file, std::uint64_t at, std::uint64_t size) {
  return at <= file.size && size <= file.size - at;
}

// Checks the hash, and returns the offset behind it.
Result<std::size_t> check_hash(packs::View file, std::string_view source_hash) {
  if (!has(file, 0, kWord)) return not_opencv("it is cut short");
  const std::uint32_t size = word_at(file, 0);
  if (!has(file, kWord, size)) return not_opencv("it is cut short");
  if (text_of(file).substr(kWord, size) == source_hash) return kWord + size;
  return Status(Code::bad_input, "it is of another source");
}

// Reads the entries of one chain, beginning with the entry at `at`. `*left` counts the bytes of the
// file that no entry has used yet.
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

// Writes the source as lines of C string literals, without the first quotation mark, and without
// the last one if the text ends with a newline.
std::string as_literals(const std::string &source) {
  std::string out;
  for (const char c : source) {
    if (c == '\n') {
      out += "\\n\"\n\"";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  if (out.ends_with('"')) out.pop_back();
  return out;
}

class OpencvCache : public ApplicationCache {
 public:
  OpencvCache(std::string folder, const std::string &learn) : folder_(std::move(folder)) {
    add_names(folder_);
    if (!learn.empty()) add_names(learn);
  }

  Result<std::string> store(const CachedProgram &program, const runtime::Facts &device,
                            packs::View binary, const std::string &) override {
    const auto source = own_text(program.source);
    if (!source.ok()) return source;
    const auto hash = known_hash(*source);
    if (!hash) {
      return Status(Code::requirement,
                    "no OpenCV was seen to cache it, so what it would call the file is not known");
    }
    const auto place = opencv_folder(device);
    if (!place.ok()) return place;
    const std::string name = *place + "/" + names_.at(*hash);
    auto entries = entries_of(name, *hash);
    if (!entries.ok() && entries.status().code == Code::not_found) {
      entries = std::vector<OpencvEntry>();
    }
    if (!entries.ok()) return entries.status();
    set_entry(program.options, binary, &*entries);
    const auto file = opencv_file(*entries, *hash);
    if (!file.ok()) return file;
    if (Status s = write_cache_file(folder_ + "/" + name, *file); !s.ok()) return s;
    return name;
  }

  Result<packs::Bytes> find(const CachedProgram &program, const runtime::Facts &device) override {
    const auto place = opencv_folder(device);
    if (!place.ok()) return place.status();
    const auto source = own_text(program.source);
    if (!source.ok()) return source.status();
    const auto hash = known_hash(*source);
    if (!hash) return Status(Code::not_found, "there is no file of its source");
    auto entries = entries_of(*place + "/" + names_.at(*hash), *hash);
    if (!entries.ok()) return entries.status();
    for (OpencvEntry &entry : *entries) {
      if (entry.options == program.options) return std::move(entry.binary);
    }
    return Status(Code::not_found, "its source was not built with these options");
  }

 private:
  // Learns names from the files of all devices.
  void add_names(const std::string &cache) {
    for (const std::string &device : names_in(cache)) {
      for (const std::string &name : names_in(cache + "/" + device)) {
        const std::string hash = hash_in_opencv_name(name);
        if (!hash.empty()) names_.emplace(hash, name);
      }
    }
  }

  std::optional<std::string> known_hash(const std::string &source) const {
    for (std::string &hash : opencv_source_hashes(source)) {
      if (names_.count(hash) != 0) return std::move(hash);
    }
    return std::nullopt;
  }

  Result<std::vector<OpencvEntry>> entries_of(const std::string &name, const std::string &hash) {
    const auto file = read_cache_file(folder_ + "/" + name);
    if (!file.ok()) return file.status();
    auto entries = read_opencv_file({file->data(), file->size()}, hash);
    if (entries.ok()) return entries;
    return Status(entries.status().code, name + ": " + entries.status().message);
  }

  static void set_entry(const std::string &options, packs::View binary,
                        std::vector<OpencvEntry> *entries) {
    const auto same = std::find_if(entries->begin(), entries->end(),
                                   [&](const auto &entry) { return entry.options == options; });
    packs::Bytes bytes(binary.data, binary.data + binary.size);
    if (same != entries->end()) {
      same->binary = std::move(bytes);
    } else {
      entries->push_back({options, std::move(bytes)});
    }
  }

  std::string folder_;
  std::map<std::string, std::string> names_;  // names of files, by hash
};

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
  // From the last to the first, so that each entry already knows the next one of its chain.
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

Result<std::string> opencv_folder(const runtime::Facts &device) {
  const auto strings = device_strings(device, {Field::address_bits, Field::device_vendor,
                                               Field::device_name, Field::driver_version});
  if (!strings.ok()) return strings.status();
  const std::string &bits = (*strings)[0];
  std::string folder = bits == "64" ? "" : bits + "-bit--";
  folder += (*strings)[1] + "--" + (*strings)[2] + "--" + (*strings)[3];
  for (char &c : folder) {
    const bool kept = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '_' || c == '-';
    if (!kept) c = '_';
  }
  return folder;
}

std::vector<std::string> opencv_source_hashes(const std::string &source) {
  return {md5_hex(as_literals(source)), fmt::format("{:08x}", crc64(source))};
}

std::string hash_in_opencv_name(const std::string &name) {
  const std::size_t module_end = name.find("--");
  const std::size_t before = name.rfind('_');
  if (!name.ends_with(kBin) || module_end == 0 || module_end == std::string::npos ||
      before == std::string::npos || before < module_end) {
    return {};
  }
  std::string hash = name.substr(before + 1, name.size() - before - sizeof(kBin));
  const bool crc = hash.size() >= kLeastCrcDigits && hash.size() <= kMostCrcDigits;
  if (!is_hex(hash, crc ? hash.size() : kMd5Digits)) return {};
  return hash;
}

std::unique_ptr<ApplicationCache> open_opencv_cache(const std::string &folder,
                                                    const std::string &learn) {
  return std::make_unique<OpencvCache>(folder, learn);
}

}  // namespace kiln::builder

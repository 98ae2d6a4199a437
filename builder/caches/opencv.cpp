// SPDX-License-Identifier: Apache-2.0
// Names of folders and files as OpenCV makes them; opencv_file.hpp has the bytes within.
#include "builder/caches/opencv.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "builder/caches/cache_files.hpp"
#include "builder/caches/digests.hpp"
#include "builder/caches/opencv_file.hpp"

namespace kiln::builder {
namespace {

using runtime::Field;

constexpr std::size_t kMd5Digits = 32;
constexpr std::size_t kLeastCrcDigits = 8;
constexpr std::size_t kMostCrcDigits = 16;
constexpr char kBin[] = ".bin";

// As the lines of C string literals, without the first quotation mark, and without the last where
// the text ends a line.
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
  // From the names of the files of all devices.
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
  std::map<std::string, std::string> names_;  // of files, by hash
};

}  // namespace

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

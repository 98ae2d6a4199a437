// SPDX-License-Identifier: Apache-2.0
// The keys as MNN makes them, and the file in memory until it is written; mnn_file.hpp has its
// tables.
#include "builder/caches/mnn.hpp"

#include <algorithm>
#include <filesystem>

#include "builder/caches/cache_files.hpp"
#include "builder/caches/digests.hpp"

namespace kiln::builder {
namespace {

using runtime::Field;

constexpr std::size_t kAdrenoCharacters = 14;  // "Adreno(TM) 750", at the end of the version

bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

Result<MnnFile> open_mnn_file(const std::string &path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Status(Code::failed, path + ": MNN's cache is one file, and this is a folder");
  }
  auto bytes = read_cache_file(path);
  if (!bytes.ok()) return bytes.status();
  auto file = MnnFile::read(*std::move(bytes));
  if (file.ok()) return file;
  return Status(Code::failed, path + ": " + file.status().message);
}

class MnnCache : public ApplicationCache {
 public:
  MnnCache(std::string path, MnnFile file, const MnnFile &learnt)
      : path_(std::move(path)),
        file_(std::move(file)),
        names_(file_.names()),
        with_drivers_(learnt.has_entries() ? learnt.has_drivers() : file_.has_drivers()) {
    for (auto &[digest, names] : learnt.names()) names_[digest].insert(names.begin(), names.end());
  }

  Result<std::string> store(const CachedProgram &program, const runtime::Facts &facts,
                            packs::View binary, const std::string &) override {
    const auto device = mnn_device(facts);
    if (!device.ok()) return device.status();
    const auto source = own_text(program.source);
    if (!source.ok()) return source;
    const std::string digest = md5_hex(*source);
    const auto names = names_.find(digest);
    if (names == names_.end()) {
      return Status(Code::requirement,
                    "no MNN was seen to cache it, so the name of its kernel file is not known");
    }
    const auto [begun, first] = drivers_.emplace(device->name, device->driver);
    if (begun->second != device->driver) {
      return Status(Code::requirement,
                    "MNN calls the device " + device->name +
                        ", and one of that name with another driver is written; a file has room "
                        "for one: choose with --target");
    }
    if (first) file_.begin(*device, with_drivers_);
    for (const std::string &name : names->second) {
      file_.set(*device, {name, program.options, digest}, binary);
    }
    return std::filesystem::path(path_).filename().string();
  }

  Status finish() override {
    if (drivers_.empty()) return {};
    const auto bytes = file_.bytes();
    return bytes.ok() ? write_cache_file(path_, *bytes) : bytes.status();
  }

  Result<packs::Bytes> find(const CachedProgram &program, const runtime::Facts &facts) override {
    const auto device = mnn_device(facts);
    if (!device.ok()) return device.status();
    const auto source = own_text(program.source);
    if (!source.ok()) return source.status();
    const auto binary = file_.find(*device, md5_hex(*source), program.options);
    if (!binary) return Status(Code::not_found, "the file has no binary of it for the device");
    return packs::Bytes(binary->data, binary->data + binary->size);
  }

 private:
  std::string path_;
  MnnFile file_;
  std::map<std::string, std::set<std::string>> names_;  // of programs, by digest
  bool with_drivers_;
  std::map<std::string, std::string> drivers_;  // of the devices that were written
};

}  // namespace

Result<MnnDevice> mnn_device(const runtime::Facts &device) {
  const auto strings = device_strings(device, {Field::device_name, Field::device_vendor,
                                               Field::device_version, Field::driver_version});
  if (!strings.ok()) return strings.status();
  const std::string &name = (*strings)[0], &vendor = (*strings)[1], &version = (*strings)[2];
  MnnDevice out{name, name + " " + version + " " + (*strings)[3]};
  if (has(name, "QUALCOMM Adreno") || has(name, "Qualcomm")) {
    out.name = version.substr(version.size() - std::min(version.size(), kAdrenoCharacters));
  } else if (!has(name, "Mali") &&
             (has(vendor, "Advanced Micro Devices") || has(vendor, "Intel"))) {
    out.name = vendor;
  }
  return out;
}

bool is_mnn_file(const std::string &path) { return open_mnn_file(path).ok(); }

Result<std::unique_ptr<ApplicationCache>> open_mnn_cache(const std::string &path,
                                                         const std::string &learn) {
  MnnFile file, learnt;
  Status s = open_mnn_file(path).move_to(&file);
  if (!s.ok() && s.code != Code::not_found) return s;
  if (!learn.empty()) s = open_mnn_file(learn).move_to(&learnt);
  if (!learn.empty() && !s.ok()) return s;
  return std::unique_ptr<ApplicationCache>(
      std::make_unique<MnnCache>(path, std::move(file), learnt));
}

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Names, writes, checks and removes the files of cached programs.
#include "runtime/cached/cached_files.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include <fcntl.h>

#include "kiln/packs/pack_folder.hpp"
#include "kiln/packs/writer.hpp"
#include "runtime/cached/started_programs.hpp"
#include "runtime/source/whole_program.hpp"

namespace kiln::cached {
namespace {

namespace fs = std::filesystem;

using packs::Code;
using packs::Status;

// Names the driver that built the binary, for the cached file itself. What "kiln layer, driver"
// wrote is not used: links of one program, which may be other programs than their names say, were
// among it.
std::string producer(const DriverKey &driver) {
  return "kiln layer 2, driver " + packs::hex64(driver.number);
}

// Returns the source, or the bytes of the module.
const packs::BlobSource *code_of(const packs::Variant &variant) {
  for (const auto *code : {&variant.source, &variant.il64, &variant.il32}) {
    if (*code) return &**code;
  }
  return nullptr;
}

// Returns the driver's number in a name of file_name(); nothing for other names.
std::optional<std::uint64_t> driver_number_in(std::string_view name) {
  constexpr std::size_t kDigits = 16;
  constexpr std::string_view kSuffix = kPackSuffix;
  if (name.size() < kDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  name.remove_prefix(name.size() - kDigits);
  std::uint64_t number = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number, kDigits);
  if (read.ec != std::errc() || read.ptr != name.data() + name.size()) return std::nullopt;
  return number;
}

bool is_sound(const packs::Contents &contents, const std::string &name, const DriverKey &driver) {
  return contents.producer == producer(driver) && contents.targets.size() == 1 &&
         contents.targets[0].key == driver.key && contents.targets[0].binaries.size() == 1 &&
         is_one_program(contents, name) &&
         contents.targets[0].binaries[0].variant == contents.programs[0].variants[0].hash;
}

// Adds what is in the folder, which may be absent.
Status list_folder(const fs::path &folder, std::vector<fs::path> *paths) {
  std::error_code error;
  if (!fs::exists(folder, error)) return {};
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    paths->push_back(i->path());
  }
  return error ? Status::error(Code::io_error, {folder.string(), ": ", error.message()}) : Status();
}

// Returns null if there is no file, or if another user may have written it.
packs::Descriptor open_file(const std::string &overlay, const std::string &name,
                            struct stat *info) {
  runtime::Folder folder;
  packs::Descriptor file;
  if (!open_folder(overlay, "", &folder).ok()) return file;
  if (folder.open_file(name, O_RDONLY, &file, info) == 0) runtime::note_use(file, *info);
  return file;
}

}  // namespace

std::string driver_name(const DriverKey &driver) {
  return packs::concat({packs::hex64(driver.key_hash), "-", packs::hex64(driver.number)});
}

std::string file_name(const std::string &program, const DriverKey &driver, const char *suffix) {
  return packs::concat({program, "-", driver_name(driver), suffix});
}

bool is_one_program(const packs::Contents &contents, const std::string &name) {
  if (contents.programs.size() != 1 || contents.programs[0].variants.size() != 1) return false;
  const packs::Variant &variant = contents.programs[0].variants[0];
  const packs::BlobSource *code = code_of(variant);
  packs::Bytes text;
  if (contents.programs[0].name != name || code == nullptr || !code->read(&text).ok()) return false;
  const std::string_view read(reinterpret_cast<const char *>(text.data()), text.size());
  return source::program_name(read, variant.options) == name;
}

Status open_folder(const std::string &overlay, const std::string &below, runtime::Folder *out) {
  std::string path = overlay;
  int error = runtime::Folder::open(path.c_str(), out);
  for (std::size_t at = 0; error == 0 && at < below.size();) {
    const std::size_t next = std::min(below.find('/', at + 1), below.size());
    path.append(below, at, next - at);
    error = runtime::Folder::open(path.c_str(), out);
    at = next;
  }
  return error == 0 ? Status() : runtime::file_failure(path, error);
}

Status write_cached(const std::string &overlay, const DriverKey &driver, packs::Contents contents) {
  runtime::Folder folder;
  if (Status s = open_folder(overlay, "", &folder); !s.ok()) return s;
  contents.producer = producer(driver);
  packs::WriteOptions options;
  options.is_private = true;
  options.is_synced = false;
  const std::string path = overlay + "/" + file_name(contents.programs[0].name, driver);
  if (Status s = packs::write_raw_pack(contents, path, options); !s.ok()) return s;
  runtime::make_room(folder, kLimit, 0);
  return {};
}

CachedFile open_cached(const std::string &overlay, const DriverKey &driver,
                       const std::string &program) {
  struct stat info {};
  CachedFile found;
  found.file = open_file(overlay, file_name(program, driver), &info);
  found.size = static_cast<std::uint64_t>(info.st_size);
  const bool sound =
      found.file &&
      packs::Pack::open_descriptor(found.file.get(), 0, found.size, &found.pack).ok() &&
      packs::read_contents(found.pack, &found.contents).ok() &&
      is_sound(found.contents, program, driver);
  return sound ? std::move(found) : CachedFile();
}

packs::Result<std::vector<packs::Contents>> read_all_cached(const std::string &overlay) {
  runtime::Folder folder;
  std::vector<std::string> names;
  if (Status s = open_folder(overlay, "", &folder); !s.ok()) return s;
  if (const int error = folder.list(&names); error != 0) {
    return runtime::file_failure(overlay, error);
  }
  std::sort(names.begin(), names.end());
  std::vector<packs::Contents> all;
  for (const std::string &name : names) {
    if (!name.starts_with(runtime::kProgramPrefix) || !name.ends_with(kPackSuffix)) continue;
    struct stat info {};
    packs::Descriptor file;
    std::shared_ptr<const packs::Pack> pack;
    packs::Contents contents;
    const bool is_read =
        folder.open_file(name, O_RDONLY, &file, &info) == 0 &&
        packs::Pack::open_descriptor(file.get(), 0, static_cast<std::uint64_t>(info.st_size), &pack)
            .ok() &&
        packs::read_contents(pack, &contents).ok() && contents.programs.size() == 1 &&
        contents.targets.size() == 1;
    if (!is_read) continue;
    const auto number = driver_number_in(name);
    if (!number) continue;
    const std::string &key = contents.targets[0].key;
    const DriverKey driver{key, packs::xxh3(key), *number};
    const std::string &program = contents.programs[0].name;
    if (name != file_name(program, driver) || !is_sound(contents, program, driver)) continue;
    all.push_back(std::move(contents));
  }
  return all;
}

std::string driver_label(const std::string &device, const std::string &version) {
  return packs::concat({device.empty() ? "a device without a name" : device, " (driver ",
                        version.empty() ? "without a version" : version, ")"});
}

std::string other_driver(const std::string &overlay, const DriverKey &driver,
                         const std::string &program) {
  runtime::Folder folder;
  std::vector<std::string> names;
  if (!open_folder(overlay, "", &folder).ok() || folder.list(&names) != 0) return {};
  const std::string own = file_name(program, driver);
  for (const std::string &name : names) {
    if (!name.starts_with(program + "-") || !name.ends_with(kPackSuffix) || name == own) continue;
    struct stat info {};
    packs::Contents contents;
    std::shared_ptr<const packs::Pack> pack;
    const packs::Descriptor file = open_file(overlay, name, &info);
    const bool read =
        file &&
        packs::Pack::open_descriptor(file.get(), 0, static_cast<std::uint64_t>(info.st_size), &pack)
            .ok() &&
        packs::read_contents(pack, &contents).ok() && contents.targets.size() == 1;
    if (!read) continue;
    std::string device, version;
    for (const auto &[fact, value] : contents.targets[0].identity) {
      if (fact == "device_name") device = value;
      if (fact == "driver_version") version = value;
    }
    return driver_label(device, version);
  }
  return {};
}

bool has_cached(const std::string &overlay, const DriverKey &driver, const std::string &program,
                const char *suffix) {
  struct stat info {};
  return static_cast<bool>(open_file(overlay, file_name(program, driver, suffix), &info));
}

std::size_t Counts::all_noted() const {
  return std::accumulate(noted.begin(), noted.end(), std::size_t{0},
                         [](std::size_t sum, const auto &one) { return sum + one.second; });
}

packs::Result<Counts> count_programs(const std::string &overlay) {
  Counts counts;
  std::vector<fs::path> paths;
  if (Status s = list_folder(overlay, &paths); !s.ok()) return s;
  counts.cached =
      static_cast<std::size_t>(std::count_if(paths.begin(), paths.end(), [](const auto &path) {
        return path.extension() == kPackSuffix &&
               path.filename().string().starts_with(runtime::kProgramPrefix);
      }));
  std::vector<fs::path> drivers;
  if (Status s = list_folder(overlay + kNoted, &drivers); !s.ok()) return s;
  for (const fs::path &driver : drivers) {
    const std::string name = driver.filename().string();
    if (!runtime::is_name(name, "", 2)) continue;
    paths.clear();
    if (Status s = list_folder(driver, &paths); !s.ok()) return s;
    std::set<std::string> programs;
    for (const fs::path &path : paths) {
      const std::string kind = path.extension().string();
      if (kind == kPackSuffix || kind == kLaunchesSuffix) programs.insert(path.stem().string());
    }
    counts.noted[name] = programs.size();
    runtime::Folder folder;
    if (!open_folder(overlay, packs::concat({kNoted, "/", name}), &folder).ok()) continue;
    for (const auto &[key, family] : families_of(read_text(folder, packs::kStartsFile))) {
      counts.varying += family.is_varying() ? 1 : 0;
    }
  }
  return counts;
}

std::string read_text(const runtime::Folder &folder, const std::string &name) {
  packs::Bytes bytes;
  struct stat info {};
  packs::Descriptor file;
  if (folder.read_file(name, kMaxText, &bytes, &info, &file) != 0) return {};
  return {bytes.begin(), bytes.end()};
}

}  // namespace kiln::cached

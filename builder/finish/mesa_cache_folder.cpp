// SPDX-License-Identifier: Apache-2.0
// Opens a device with an empty cache folder, and reads and writes a cache of files, which lie two
// levels deep: "ab/cdef...", 40 digits or 64.
#include "builder/finish/mesa_cache_folder.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "builder/base/whole_file.hpp"
#include "builder/machine/driver_caches.hpp"
#include "builder/machine/opened_device.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/temporary_folder.hpp"
#include "runtime/provision/mesa_cache.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

constexpr char kDatabase[] = "foz_cache.foz";

void write_bytes(const fs::path &path, packs::View bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.data), static_cast<std::streamsize>(bytes.size));
}

packs::Bytes file_bytes(const fs::path &path) {
  const std::string bytes = read_whole_file(path).value_or("");
  return {bytes.begin(), bytes.end()};
}

// Returns the only database below `caches` as a blob.
Result<packs::Bytes> take_entries(const std::string &caches) {
  const std::vector<fs::path> found = mesa_databases(caches);
  if (found.size() != 1) return Status(Code::failed, "Mesa wrote no shader cache");
  const packs::Bytes foz = file_bytes(found[0]);
  const std::string place =
      fs::relative(found[0].parent_path(), fs::path(caches) / kMesaRoot).generic_string();
  packs::Bytes entries;
  Status status = runtime::split_foz(place, {foz.data(), foz.size()}, {}, &entries);
  if (status.ok()) return entries;
  status.message = "Mesa's shader cache: " + status.message;
  return status;
}

constexpr char kFilesRoot[] = "mesa_shader_cache";

fs::path file_of(const std::string &folder, const std::string &name) {
  return fs::path(folder) / kFilesRoot / name.substr(0, 2) / name.substr(2);
}

// Returns whether an entry belongs to that place. Its payload begins with the version of its
// format, the driver's id and the driver's name.
bool is_of(std::string_view place, const packs::Bytes &payload) {
  std::string names(place);
  const std::size_t slash = names.find('/');
  if (slash == std::string::npos) return false;
  names[slash] = '\0';
  names.push_back('\0');
  const std::string_view text(reinterpret_cast<const char *>(payload.data()), payload.size());
  return text.substr(std::min<std::size_t>(1, text.size()), names.size()) == names;
}

}  // namespace

std::vector<fs::path> mesa_databases(const fs::path &caches) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto &entry : fs::recursive_directory_iterator(caches / kMesaRoot, ignored)) {
    const fs::path &path = entry.path();
    if (path.filename() == kDatabase && path.parent_path().filename() != "rusticl") {
      found.push_back(path);
    }
  }
  return found;
}

Result<packs::Bytes> harvest_device_entries(const DeviceInfo &device,
                                            std::chrono::milliseconds timeout,
                                            const std::string &caches) {
  const ChildResult child = fork_call(
      [&]() -> nlohmann::json {
        use_driver_caches(caches);
        OpenedDevice opened;
        const Status status = opened.open(device);
        await_mesa();
        return to_json(status);
      },
      timeout);
  if (Status s = child.status(); !s.ok()) return s;
  return take_entries(caches);
}

std::vector<std::string> mesa_places(const packs::Contents &contents) {
  std::vector<std::string> places;
  const auto add = [&](const std::optional<packs::BlobSource> &blob) {
    packs::Bytes bytes;
    runtime::MesaBlob parsed;
    if (blob && blob->read(&bytes).ok() &&
        runtime::parse_mesa_blob({bytes.data(), bytes.size()}, &parsed).ok()) {
      places.emplace_back(parsed.place);
    }
  };
  for (const packs::Target &target : contents.targets) {
    if (target.profile != "rusticl") continue;
    add(target.cache_entries);
    for (const packs::Binary &binary : target.binaries) add(binary.cache_entries);
  }
  return places;
}

namespace {

std::string ask_mesa_place(const DeviceInfo &device) {
  constexpr std::chrono::seconds kOpening{60};
  const auto caches = TemporaryFolder::make();
  if (!caches.ok()) return {};
  const auto entries = harvest_device_entries(device, kOpening, caches->path());
  runtime::MesaBlob blob;
  if (!entries.ok() || !runtime::parse_mesa_blob({entries->data(), entries->size()}, &blob).ok()) {
    return {};
  }
  return std::string(blob.place);
}

}  // namespace

std::string mesa_place(const DeviceInfo &device) {
  static std::map<std::string, std::string> known;  // by binary key: a process has one Mesa
  const auto [place, is_new] = known.try_emplace(device.description.key.text());
  if (is_new) place->second = ask_mesa_place(device);
  return place->second;
}

void drop_other_mesas(const std::vector<DeviceInfo> &devices, packs::Contents *contents) {
  for (const DeviceInfo &device : devices) {
    if (device.description.finishing != runtime::Finishing::shader_cache ||
        device.virtual_device != nullptr) {
      continue;
    }
    const std::string key = device.description.key.text();
    packs::Contents own;
    for (const packs::Target &target : contents->targets) {
      if (target.key == key) own.targets.push_back(target);
    }
    if (own.targets.empty()) continue;
    const std::vector<std::string> places = mesa_places(own);
    if (places.empty()) continue;  // nothing could be finished
    const std::string here = mesa_place(device);
    if (here.empty() || std::find(places.begin(), places.end(), here) != places.end()) continue;
    std::erase_if(contents->targets, [&](const packs::Target &one) { return one.key == key; });
  }
}

void MesaFiles::use(const std::string &folder) {
  constexpr char kReadOnly[] = "opened";
  std::error_code ignored;
  for (const fs::path &database : mesa_databases(folder)) {
    for (const char *end : {".foz", "_idx.foz"}) {
      fs::rename(database.parent_path() / (std::string("foz_cache") + end),
                 database.parent_path() / (std::string(kReadOnly) + end), ignored);
    }
  }
  setenv("MESA_SHADER_CACHE_DIR", folder.c_str(), 1);
  setenv("MESA_DISK_CACHE_MULTI_FILE", "1", 1);
  unsetenv("MESA_DISK_CACHE_SINGLE_FILE");
  setenv("MESA_DISK_CACHE_READ_ONLY_FOZ_DBS", kReadOnly, 1);  // if there is none, Mesa goes without
  setenv("MESA_DISK_CACHE_COMBINE_RW_WITH_RO_FOZ", "1", 1);
}

std::set<std::string> MesaFiles::names() const {
  std::set<std::string> found;
  std::error_code ignored;
  for (const auto &entry :
       fs::recursive_directory_iterator(fs::path(folder_) / kFilesRoot, ignored)) {
    std::string name = entry.path().parent_path().filename();
    name += entry.path().filename().string();
    if (name.size() >= runtime::kMesaKeySize && entry.is_regular_file(ignored)) found.insert(name);
  }
  return found;
}

std::vector<std::string> MesaFiles::new_names() const {
  const std::set<std::string> all = names();
  std::vector<std::string> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found), [&](const std::string &name) {
    return kept_.count(name) == 0 && put_.count(name) == 0;
  });
  return found;
}

void MesaFiles::keep() { kept_ = names(); }

void MesaFiles::reset() {
  std::error_code ignored;
  for (const std::string &name : names()) {
    if (kept_.count(name) == 0) fs::remove(file_of(folder_, name), ignored);
  }
  put_.clear();
}

void MesaFiles::put(packs::View bytes, const std::vector<std::string> &names) {
  runtime::MesaBlob blob;
  if (!parse_mesa_blob(bytes, &blob).ok()) return;
  for (const runtime::MesaEntry &entry : blob.entries) {
    const std::string_view key = entry.key();
    const auto longer = std::find_if(names.begin(), names.end(), [&](const std::string &name) {
      return name.compare(0, key.size(), key) == 0;
    });
    const std::string name = longer == names.end() ? std::string(key) : *longer;
    const fs::path file = file_of(folder_, name);
    std::error_code ignored;
    fs::create_directories(file.parent_path(), ignored);
    write_bytes(file, entry.payload());
    put_.insert(name);
  }
}

packs::Bytes MesaFiles::take(std::string_view place) const {
  packs::Bytes blob(place.begin(), place.end());
  blob.push_back('\n');
  for (const std::string &name : new_names()) {
    const packs::Bytes payload = file_bytes(file_of(folder_, name));
    if (is_of(place, payload)) {
      runtime::append_mesa_entry(name.substr(0, runtime::kMesaKeySize),
                                 {payload.data(), payload.size()}, &blob);
    }
  }
  return blob;
}

}  // namespace kiln::builder

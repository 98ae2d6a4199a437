// SPDX-License-Identifier: Apache-2.0
// Lists, reads, writes and removes the files, which lie two levels deep: "ab/cdef...", 40 digits or
// 64.
#include "builder/prove/mesa_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/provision/mesa_cache.hpp"

namespace kiln::builder {
namespace {

namespace fs = std::filesystem;

constexpr char kFilesRoot[] = "mesa_shader_cache";

fs::path file_of(const std::string &folder, const std::string &name) {
  return fs::path(folder) / kFilesRoot / name.substr(0, 2) / name.substr(2);
}

packs::Bytes read_entry(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  return packs::Bytes(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
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

void MesaFiles::use(const std::string &folder) {
  setenv("MESA_SHADER_CACHE_DIR", folder.c_str(), 1);
  setenv("MESA_DISK_CACHE_MULTI_FILE", "1", 1);
  for (const char *other : {"MESA_DISK_CACHE_SINGLE_FILE", "MESA_DISK_CACHE_READ_ONLY_FOZ_DBS",
                            "MESA_DISK_CACHE_COMBINE_RW_WITH_RO_FOZ"}) {
    unsetenv(other);
  }
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
    const packs::View payload = entry.payload();
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char *>(payload.data),
               static_cast<std::streamsize>(payload.size));
    put_.insert(name);
  }
}

packs::Bytes MesaFiles::take(std::string_view place) const {
  packs::Bytes blob(place.begin(), place.end());
  blob.push_back('\n');
  for (const std::string &name : new_names()) {
    const packs::Bytes payload = read_entry(file_of(folder_, name));
    if (is_of(place, payload)) {
      runtime::append_mesa_entry(name.substr(0, runtime::kMesaKeySize),
                                 {payload.data(), payload.size()}, &blob);
    }
  }
  return blob;
}

}  // namespace kiln::builder

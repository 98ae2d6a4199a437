// SPDX-License-Identifier: Apache-2.0
// Writes and removes the files of each place, under a lock, with a marker that the files are
// Kiln's.
#include "runtime/provision/mesa_provision.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/files.hpp"
#include "runtime/overlay/overlay.hpp"
#include "runtime/overlay/private_folder.hpp"
#include "runtime/provision/mesa_cache.hpp"
#include "runtime/text/driver_strings.hpp"

namespace kiln::runtime {
namespace {

constexpr char kRoot[] = "/mesa_shader_cache_sf";
constexpr char kDatabase[] = "kiln";  // Mesa's name for the pair of files
constexpr char kFoz[] = "kiln.foz";
constexpr char kIndex[] = "kiln_idx.foz";
constexpr char kMarker[] = "kiln.marker";
constexpr char kMarkerStart[] = "kiln provisioned 1\nplace ";
constexpr std::uint64_t kMaxMarkerSize = 1024;
constexpr std::uint64_t kMaxDatabaseSize = packs::kMaxBlobSize;
constexpr unsigned kMaxDepth = 3;  // folders in a place

Status failure_in(std::string_view folder, std::string_view name, int error) {
  return file_failure(packs::concat({folder, "/", name}), error);
}

packs::View view_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

packs::View view_of(const packs::Bytes &bytes) { return {bytes.data(), bytes.size()}; }

bool are_equal(packs::View a, packs::View b) {
  return a.size == b.size && (a.size == 0 || std::memcmp(a.data, b.data, a.size) == 0);
}

bool begins_with(const packs::Bytes &bytes, const packs::Bytes &start) {
  return bytes.size() >= start.size() && are_equal({bytes.data(), start.size()}, view_of(start));
}

// Reads a file of a place; an absent file is empty.
int read_own(const Folder &folder, const char *name, std::uint64_t limit, packs::Bytes *out,
             bool *exists) {
  struct stat info {};
  Descriptor file;
  *exists = true;
  const int error = folder.read_file(name, limit, out, &info, &file);
  if (error == ENOENT) *exists = false;
  if (error != 0) {
    out->clear();
    return error == ENOENT ? 0 : error;
  }
  return info.st_uid == geteuid() ? 0 : EPERM;
}

std::string file_line(const char *name, const packs::Bytes &bytes) {
  return packs::concat({name, " ", packs::decimal(bytes.size()), " ",
                        hex64(packs::xxh3(bytes.data(), bytes.size())), "\n"});
}

std::string marker_text(std::string_view place, const FozFiles &files) {
  return packs::concat(
      {kMarkerStart, place, "\n", file_line(kFoz, files.foz), file_line(kIndex, files.index)});
}

bool is_marker_of(const packs::Bytes &marker, std::string_view place) {
  const std::string start = packs::concat({kMarkerStart, place, "\n"});
  return marker.size() >= start.size() &&
         std::memcmp(marker.data(), start.data(), start.size()) == 0;
}

// Opens or creates FOLDER/mesa_shader_cache_sf/PLACE; each folder must belong to this user.
Status open_place(const char *folder, std::string_view place, std::string *path, Folder *out) {
  *path = packs::concat({folder, kRoot});
  if (int error = Folder::open(path->c_str(), out); error != 0) {
    return file_failure(*path, error);
  }
  std::size_t begin = 0;
  while (begin <= place.size()) {
    std::size_t end = place.find('/', begin);
    if (end == std::string_view::npos) end = place.size();
    path->push_back('/');
    path->append(place.substr(begin, end - begin));
    if (int error = Folder::open(path->c_str(), out); error != 0) {
      return file_failure(*path, error);
    }
    begin = end + 1;
  }
  return {};
}

// The current files of a place.
struct Present {
  packs::Bytes foz;
  packs::Bytes index;
  packs::Bytes marker;
};

Status read_present(const Folder &folder, std::string_view place, const std::string &path,
                    Present *out) {
  const struct {
    const char *name;
    std::uint64_t limit;
    packs::Bytes *bytes;
  } files[] = {{kMarker, kMaxMarkerSize, &out->marker},
               {kFoz, kMaxDatabaseSize, &out->foz},
               {kIndex, kMaxDatabaseSize, &out->index}};
  for (const auto &file : files) {
    bool exists = false;
    const int error = read_own(folder, file.name, file.limit, file.bytes, &exists);
    if (error != 0) return failure_in(path, file.name, error);
    if (exists && !is_marker_of(out->marker, place)) {
      return Status::error(Code::io_error, {path, "/", file.name, ": it is not Kiln's"});
    }
  }
  return {};
}

// Writes the files that differ: the marker first, so that the files are known as Kiln's whatever
// happens; then the entries; the index last, so that it never lists a missing entry.
Status write_place(const Folder &folder, std::string_view place, const std::string &path,
                   const Present &present, const FozFiles &files, bool *wrote) {
  const std::string marker = marker_text(place, files);
  const struct {
    const char *name;
    packs::View wanted;
    packs::View found;
  } all[] = {{kMarker, view_of(marker), view_of(present.marker)},
             {kFoz, view_of(files.foz), view_of(present.foz)},
             {kIndex, view_of(files.index), view_of(present.index)}};
  for (const auto &file : all) {
    if (are_equal(file.wanted, file.found)) continue;
    if (int error = folder.write_file(file.name, &file.wanted, 1); error != 0) {
      return failure_in(path, file.name, error);
    }
    *wrote = true;
  }
  return {};
}

// Locks the folder against other provisioning processes, as long as `*out` is open.
int lock(const char *folder, Descriptor *out) {
  Descriptor fd(packs::open_folder(folder, true));
  if (!fd) return errno;
  if (packs::uninterrupted([&] { return flock(fd.get(), LOCK_EX); }) != 0) return errno;
  *out = std::move(fd);
  return 0;
}

int remove_present(const Folder &folder, const char *name) {
  const int error = folder.remove(name);
  return error == ENOENT ? 0 : error;
}

// Removes the index first: Mesa reads neither file without the other. Removes the marker last, so
// that an interrupted call can be repeated.
Status remove_files(const Folder &folder, const std::string &path,
                    const std::vector<std::string> &names) {
  for (const std::string &name : names) {
    if (!is_name(name, kTemporaryPrefix, 1)) continue;
    if (int error = remove_present(folder, name.c_str()); error != 0) {
      return failure_in(path, name, error);
    }
  }
  for (const char *name : {kIndex, kFoz, kMarker}) {
    if (int error = remove_present(folder, name); error != 0) {
      return failure_in(path, name, error);
    }
  }
  return {};
}

// Searches a folder and its subfolders. `place` is the folder's path below mesa_shader_cache_sf.
Status remove_below(const std::string &path, const std::string &place, unsigned depth,
                    std::size_t *removed) {
  Folder folder;
  if (int error = Folder::open(path.c_str(), &folder); error != 0) {
    return file_failure(path, error);
  }
  std::vector<std::string> names;
  if (int error = folder.list(&names); error != 0) return file_failure(path, error);
  packs::Bytes marker;
  bool exists = false;
  if (read_own(folder, kMarker, kMaxMarkerSize, &marker, &exists) == 0 &&
      is_marker_of(marker, place)) {
    if (Status e = remove_files(folder, path, names); !e.ok()) return e;
    ++*removed;
  }
  if (depth == kMaxDepth) return {};
  for (const std::string &name : names) {
    const std::string below = place.empty() ? name : packs::concat({place, "/", name});
    struct stat info {};
    if (folder.status(name, &info) != 0 || !S_ISDIR(info.st_mode) || !is_mesa_place(below) ||
        info.st_uid != geteuid() || (info.st_mode & S_IWOTH) != 0) {
      continue;  // Kiln writes to no such folder
    }
    if (Status e = remove_below(packs::concat({path, "/", name}), below, depth + 1, removed);
        !e.ok()) {
      return e;
    }
  }
  return {};
}

// Returns whether the comma-separated `names` include `name`.
bool has_name(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::size_t end = names.find(',');
    if (names.substr(0, end) == name) return true;
    if (end == std::string_view::npos) return false;
    names.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace

MesaEntries::Place *MesaEntries::place_of(std::string_view name) {
  for (Place &place : places_) {
    if (place.name == name) return &place;
  }
  places_.emplace_back();
  places_.back().name = name;
  return &places_.back();
}

// Adds a blob's entries to its place. Raw blobs stay in the pack; decoded ones are kept.
Status MesaEntries::add_blob(const packs::Pack &pack, packs::BlobRef blob) {
  packs::Bytes scratch;
  packs::View view;
  if (Status s = pack.read_blob(blob, &scratch, &view); !s.ok()) return s;
  MesaBlob parsed;
  if (Status s = parse_mesa_blob(view, &parsed); !s.ok()) return s;
  Place *place = place_of(parsed.place);
  place->entries.insert(place->entries.end(), parsed.entries.begin(), parsed.entries.end());
  if (!scratch.empty()) decoded_.push_back(std::move(scratch));
  return {};
}

Status MesaEntries::add(const std::shared_ptr<const packs::Pack> &pack) {
  for (std::size_t i = 0; i < pack->target_count(); ++i) {
    packs::TargetRef target;
    if (Status s = pack->target(i, &target); !s.ok()) return s;
    if (target.profile() != "rusticl") continue;
    if (packs_.empty() || packs_.back() != pack) packs_.push_back(pack);
    for (std::uint32_t k = 0; k < target.cache_entries_count(); ++k) {
      if (Status s = add_blob(*pack, target.cache_entries(k)); !s.ok()) return s;
    }
  }
  return {};
}

bool MesaEntries::empty() const {
  for (const Place &place : places_) {
    if (!place.entries.empty()) return false;
  }
  return true;
}

Status MesaEntries::provision_place(const char *folder, const Place &place,
                                    ProvisionResult *result) {
  Folder opened;
  std::string path;
  if (Status e = open_place(folder, place.name, &path, &opened); !e.ok()) return e;
  Present present;
  if (Status e = read_present(opened, place.name, path, &present); !e.ok()) return e;
  MesaJoin join;
  // A damaged database is written anew.
  if (!present.foz.empty() && !join.start(view_of(present.foz)).ok()) present.foz.clear();
  join.add(place.entries);
  FozFiles files;
  join.finish(&files);
  // Removes an index of other entries first: with the new file it could give one kernel another's
  // code.
  if (!begins_with(files.index, present.index)) {
    if (int error = opened.remove(kIndex); error != 0) return failure_in(path, kIndex, error);
    present.index.clear();
  }
  bool wrote = false;
  if (Status e = write_place(opened, place.name, path, present, files, &wrote); !e.ok()) return e;
  ++result->places;
  result->written += wrote ? 1 : 0;
  result->entries += join.entry_count();
  result->bytes += files.foz.size() + files.index.size();
  return {};
}

Status MesaEntries::provision(const char *folder, ProvisionResult *out) const {
  *out = {};
  if (places_.empty()) return {};
  Folder opened;
  if (int error = Folder::open(folder, &opened); error != 0) return file_failure(folder, error);
  Descriptor held;
  if (int error = lock(folder, &held); error != 0) return file_failure(folder, error);
  ProvisionResult result;
  for (const Place &place : places_) {
    if (Status e = provision_place(folder, place, &result); !e.ok()) return e;
  }
  *out = result;
  return {};
}

Status remove_provisioned(const char *folder, std::size_t *removed) {
  *removed = 0;
  const std::string root = packs::concat({folder, kRoot});
  struct stat info {};
  if (lstat(root.c_str(), &info) != 0) {
    return errno == ENOENT ? Status() : file_failure(root, errno);
  }
  Descriptor held;
  if (int error = lock(folder, &held); error != 0) return file_failure(folder, error);
  return remove_below(root, "", 0, removed);
}

std::string with_kiln_database(const char *databases) {
  if (databases == nullptr || *databases == '\0') return kDatabase;
  if (has_name(databases, kDatabase)) return databases;
  return packs::concat({databases, ",", kDatabase});
}

void point_mesa_at(const char *folder) {
  constexpr char kDatabases[] = "MESA_DISK_CACHE_READ_ONLY_FOZ_DBS";
  setenv("MESA_SHADER_CACHE_DIR", folder, 1);
  setenv(kDatabases, with_kiln_database(getenv(kDatabases)).c_str(), 1);
  // Mesa 22 reads such a database only if its own cache is one, too: the first variable. If the
  // user chose another kind, newer versions still read the database by the second variable.
  setenv("MESA_DISK_CACHE_SINGLE_FILE", "1", 0);
  setenv("MESA_DISK_CACHE_COMBINE_RW_WITH_RO_FOZ", "1", 0);
}

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// Mesa's shader cache as a folder: one database, or a file for each entry.
#pragma once

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/machine/device_info.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Folder of Mesa's compiled code, below a folder of caches.
inline constexpr char kMesaRoot[] = "mesa_shader_cache_sf";

// Returns the drivers' databases below a folder of caches. Leaves out rusticl's own database, from
// source to SPIR-V: loading a binary does not need it.
std::vector<std::filesystem::path> mesa_databases(const std::filesystem::path &caches);

// Returns the cache entries that Mesa makes when it opens the device, as a blob of cache entries of
// the target; the blob may have no entries. They are left in `caches`, an empty folder. Fails with
// Code::process if the driver died, and with Code::failed if Mesa made no cache at all.
Result<packs::Bytes> harvest_device_entries(const DeviceInfo &device,
                                            std::chrono::milliseconds timeout,
                                            const std::string &caches);

// Returns the folders in Mesa's cache that the targets of the profile rusticl have entries for.
std::vector<std::string> mesa_places(const packs::Contents &contents);

// Returns the folder in its cache that this machine's Mesa uses for the device; empty if it has
// none.
std::string mesa_place(const DeviceInfo &device);

// Removes the targets of the devices whose entries another build of Mesa or LLVM made, or for
// another number of CPUs, which are not all in the binary key: their first launches would compile.
void drop_other_mesas(const std::vector<DeviceInfo> &devices, packs::Contents *contents);

// Mesa's shader cache with a file for each entry. Mesa looks at the files whenever it needs an
// entry, so that added and removed files count at once, even for a process that opened its device
// long ago.
class MesaFiles {
 public:
  // Makes `folder` the only cache of Mesa in this process, which must not have loaded Mesa yet.
  // Mesa also reads a database that the folder already holds; names() leaves its entries out.
  static void use(const std::string &folder);

  explicit MesaFiles(std::string folder) : folder_(std::move(folder)) {}

  // Makes reset() keep the present files, which Mesa made when it opened the device.
  void keep();
  // Removes all files except the kept ones.
  void reset();
  // Writes the entries of a blob of cache entries to the folder. From version 26 on Mesa's file
  // names are longer than the keys in its databases: `names` are the new_names() from when the blob
  // was taken. Leaves out entries that cannot be read or written: Mesa compiles them, which is
  // noticed.
  void put(packs::View blob, const std::vector<std::string> &names = {});

  // Returns the files that Mesa wrote since reset(), except files from put(). Call await_mesa()
  // before.
  std::vector<std::string> new_names() const;
  // Returns the new entries of `place`, "<driver's id>/<driver>", as a blob of cache entries of a
  // variant. Leaves out rusticl's own entries, from source to SPIR-V: loading a binary does not
  // need them.
  packs::Bytes take(std::string_view place) const;

 private:
  std::set<std::string> names() const;

  std::string folder_;
  std::set<std::string> kept_;
  std::set<std::string> put_;
};

}  // namespace kiln::builder

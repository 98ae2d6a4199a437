// SPDX-License-Identifier: Apache-2.0
// Mesa's shader cache as a folder: written by a process, or filled for a process.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/device/device_info.hpp"
#include "builder/process/fork_call.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Folder of Mesa's compiled code, below a folder of caches.
inline constexpr char kMesaRoot[] = "mesa_shader_cache_sf";

// Returns the drivers' databases below a folder of caches. Leaves out rusticl's own database, from
// source to SPIR-V: loading a binary does not need it.
std::vector<std::filesystem::path> mesa_databases(const std::filesystem::path &caches);

// A temporary folder for a driver's caches, filled with the entries of auxiliary blobs. Methods
// fail with Code::failed.
class MesaCache {
 public:
  // Takes the entries of the target with that key, and of its binaries.
  static Result<MesaCache> make(const packs::Contents &contents, const std::string &key);

  const std::string &folder() const { return folder_.path(); }
  // Makes a copy below `into` for one process. The next copy replaces it, and everything compiled
  // there is gone.
  Result<std::string> copy(const TemporaryFolder &into) const;

 private:
  static Result<MesaCache> make(const std::vector<packs::BlobSource> &auxiliary);
  explicit MesaCache(TemporaryFolder folder) : folder_(std::move(folder)) {}
  Status fill(const std::vector<packs::BlobSource> &blobs);
  TemporaryFolder folder_;
};

// Returns the cache entries that Mesa makes when it opens the device, as an auxiliary blob of the
// target; the blob may have no entries. Fails with Code::process if the driver died, and with
// Code::failed if Mesa made no cache at all.
Result<packs::Bytes> harvest_device_entries(const DeviceInfo &device,
                                            std::chrono::milliseconds timeout);

// Returns the folders in Mesa's cache that the targets of the profile rusticl have entries for.
std::vector<std::string> mesa_places(const packs::Contents &contents);

// Returns the folder in its cache that this machine's Mesa uses for the device; empty if it has
// none.
std::string mesa_place(const DeviceInfo &device);

}  // namespace kiln::builder

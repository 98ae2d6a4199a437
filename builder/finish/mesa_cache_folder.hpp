// SPDX-License-Identifier: Apache-2.0
// Mesa's shader cache as a folder: what a process wrote to one, and one filled for a process.
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

// Where Mesa keeps what it compiled, below a folder of caches.
inline constexpr char kMesaRoot[] = "mesa_shader_cache_sf";

// The drivers' databases below a folder of caches. What rusticl itself keeps, from source to
// SPIR-V, is not needed where a binary is loaded.
std::vector<std::filesystem::path> mesa_databases(const std::filesystem::path &caches);

// Waits, some seconds at most, until Mesa's threads have written to disk what this process
// compiled. Returns at once if no thread has anything of it to do.
void await_mesa();

// A temporary folder for a driver's caches, filled with the entries of auxiliary blobs. What fails,
// fails with Code::failed.
class MesaCache {
 public:
  // Those of the target with that key, and of its binaries.
  static Result<MesaCache> make(const packs::Contents &contents, const std::string &key);

  const std::string &folder() const { return folder_.path(); }
  // A new copy below `into`, for one process: what is compiled there is gone with the next copy.
  Result<std::string> copy(const TemporaryFolder &into) const;

 private:
  static Result<MesaCache> make(const std::vector<packs::BlobSource> &auxiliary);
  explicit MesaCache(TemporaryFolder folder) : folder_(std::move(folder)) {}
  Status fill(const std::vector<packs::BlobSource> &blobs);
  TemporaryFolder folder_;
};

// The cache entries that Mesa makes when it opens the device, as an auxiliary blob of the target,
// which may have no entries. Fails with Code::process if the driver died, and with Code::failed if
// Mesa made no cache at all.
Result<packs::Bytes> harvest_opening(const DeviceInfo &device, std::chrono::milliseconds timeout);

}  // namespace kiln::builder

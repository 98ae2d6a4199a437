// SPDX-License-Identifier: Apache-2.0
// Mesa's shader cache, where rusticl keeps final code: taken from a launch, and given to one.
#pragma once

#include <string>
#include <vector>

#include "builder/finish/proof.hpp"
#include "builder/process/fork_call.hpp"

namespace kiln::builder {

// The cache entries that Mesa makes when it opens the device, as an auxiliary blob of the target,
// which may have no entries. Fails with Code::process if the driver died, and with Code::failed if
// Mesa made no cache at all.
Result<packs::Bytes> harvest_opening(const DeviceInfo &device, std::chrono::milliseconds timeout);

// Loads and launches the binary in a process whose cache is empty. Returns the entries that Mesa
// then wrote, without those of `opening`, as an auxiliary blob of the variant. Fails as prove()
// does, and with Code::failed if the kernel could not be launched or Mesa made no cache.
Result<packs::Bytes> harvest_mesa(const ProofRequest &request, const packs::Binary &binary,
                                  const packs::Bytes &opening);

// Waits, some seconds at most, until Mesa's threads have written to disk what this process
// compiled. Returns at once if no thread has anything of it to do.
void await_mesa();

// Whether Mesa wrote anything of its own into a folder of caches.
bool mesa_wrote(const std::string &folder);

// A temporary folder for a driver's caches, filled with the entries of auxiliary blobs.
class MesaCache {
 public:
  explicit MesaCache(const std::vector<packs::BlobSource> &auxiliary);
  // Those of the target with that key.
  MesaCache(const packs::Contents &contents, const std::string &key);

  const std::string &folder() const { return folder_.path(); }
  // A new copy below `into`, for one process: what is compiled there is gone with the next copy.
  std::string copy(const TemporaryFolder &into) const;

 private:
  void fill(const std::vector<packs::BlobSource> &blobs);
  TemporaryFolder folder_;
};

}  // namespace kiln::builder

// Mesa's shader cache, where rusticl keeps final code: taken from a launch, and given to one.
#pragma once

#include <string>
#include <vector>

#include "isolate.hpp"
#include "proof.hpp"

namespace kiln::builder {

// What Mesa compiles whenever it opens the device, as an auxiliary blob of the target; no entries
// where that is nothing. Returns why there is none, or an empty string.
std::string harvest_opening(const DeviceInfo &device, std::chrono::milliseconds timeout,
                            packs::Bytes *out);

// Loads and launches the binary in a process whose cache is empty, and gives what Mesa then put
// there beyond `opening`, as an auxiliary blob of the variant. Returns why there is none, or an
// empty string.
std::string harvest_mesa(const ProofRequest &request, const packs::Binary &binary,
                         const packs::Bytes &opening, packs::Bytes *out);

// For a process that uses Mesa's cache: waits until what it compiled is on disk, which Mesa leaves
// to threads; for some seconds at most. Nothing where there are no such threads.
void await_mesa();

// Whether Mesa wrote anything of its own into a folder of caches.
bool mesa_wrote(const std::string &folder);

// A folder for drivers' caches that holds auxiliary blobs, and is empty where there are none.
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

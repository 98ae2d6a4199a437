// SPDX-License-Identifier: Apache-2.0
// Installs a pack's entries for Mesa's shader cache on this machine, so that rusticl compiles
// nothing at a kernel's first launch. Mesa reads the entries as a read-only database besides its
// own cache:
//
//     FOLDER/mesa_shader_cache_sf/<driver's id>/llvmpipe/kiln.foz, kiln_idx.foz, kiln.marker
//
// Done once, at installation or after an update. The driver's id is a hash that Mesa makes of its
// own build, of LLVM's build and of the processor, including the number of CPUs that the process
// may use: a folder of another id is never read, and does no harm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/packs/pack.hpp"
#include "runtime/opencl/error.hpp"
#include "runtime/provision/mesa_cache.hpp"

namespace kiln::runtime {

struct ProvisionResult {
  std::size_t places = 0;   // folders that now have the pack's entries
  std::size_t written = 0;  // of these folders, how many had to be written
  std::size_t entries = 0;  // entries in these folders
  std::uint64_t bytes = 0;  // size of the databases in these folders
};

// The entries of packs, by place.
class MesaEntries {
 public:
  // Adds the entries of the pack's targets with the profile rusticl, and keeps a pack open that has
  // such targets. Reads no other blobs. Fails with the pack's fault; entries before it are added.
  Status add(const std::shared_ptr<const packs::Pack> &pack);

  bool empty() const;

  // Writes the entries. Creates `folder` (0700) if its parent exists; it must belong to this user
  // alone, and so must the folders below it. Earlier packs' entries stay. Existing files are
  // checked byte by byte, and only differences are written: a second call writes nothing, and a
  // call after damage repairs it. Files are replaced whole, so a process that starts meanwhile
  // finds the old entries or the new ones; only a repair should have the folder to itself. Any
  // number of processes may call this; one works at a time.
  //
  // Fails with Code::io_error, naming the file and the obstacle (a symbolic link, another owner, no
  // permission, a full disk, a file of that name that is not Kiln's). Files written before an error
  // stay; each place is whole or unchanged.
  Status provision(const char *folder, ProvisionResult *out) const;

 private:
  struct Place {
    std::string name;
    std::vector<MesaEntry> entries;
  };

  Status add_blob(const packs::Pack &pack, packs::BlobRef blob);
  Place *place_of(std::string_view name);
  static Status provision_place(const char *folder, const Place &place, ProvisionResult *result);

  std::vector<Place> places_;
  std::vector<packs::Bytes> decoded_;                      // bytes that the entries refer to
  std::vector<std::shared_ptr<const packs::Pack>> packs_;  // whose bytes the others refer to
};

// Removes the three files of each place whose marker is Kiln's, and the temporary files of killed
// calls there; no other file, no folder. Sets `*removed` to the number of places. A missing folder
// is no error.
Status remove_provisioned(const char *folder, std::size_t *removed);

// Returns a value of MESA_DISK_CACHE_READ_ONLY_FOZ_DBS: the databases of `databases`, which may be
// null, and Kiln's.
std::string with_kiln_database(const char *databases);

// Sets this process's environment so that Mesa reads the databases in `folder`, and keeps its own
// cache there, too. Call it before the first call into OpenCL, while no other thread reads or
// writes the environment. Does not change the user's setting for the kind of Mesa's cache.
void point_mesa_at(const char *folder);

}  // namespace kiln::runtime

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

#include "kiln/packs/pack.hpp"
#include "runtime/opencl/error.hpp"

namespace kiln::runtime {

struct ProvisionResult {
  std::size_t places = 0;   // folders that now have the pack's entries
  std::size_t written = 0;  // of these folders, how many had to be written
  std::size_t entries = 0;  // entries in these folders
  std::uint64_t bytes = 0;  // size of the databases in these folders
};

// Writes the entries of the pack's targets with the profile rusticl. Creates `folder` (0700) if its
// parent exists; it must belong to this user alone, and so must the folders below it. Another
// pack's entries stay. Existing files are checked byte by byte, and only differences are written: a
// second call writes nothing, and a call after damage repairs it. Files are replaced whole, so a
// process that starts meanwhile finds the old entries or the new ones; only a repair should have
// the folder to itself. Any number of processes may call this; one works at a time.
//
// Fails with Code::io_error, naming the file and the obstacle (a symbolic link, another owner, no
// permission, a full disk, a file of that name that is not Kiln's), or with the pack's fault. Files
// written before an error stay; each place is whole or unchanged.
Status provision_mesa(const packs::Pack &pack, const char *folder, ProvisionResult *out);

// Removes the three files of each place whose marker is Kiln's, and the temporary files of killed
// calls there; no other file, no folder. Sets `*removed` to the number of places. A missing folder
// is no error.
Status remove_provisioned(const char *folder, std::size_t *removed);

// Sets this process's environment so that Mesa reads the databases in `folder`, and keeps its own
// cache there, too. Call it before the first call into OpenCL, while no other thread reads or
// writes the environment. Does not change the user's setting for the kind of Mesa's cache.
void point_mesa_at(const char *folder);

}  // namespace kiln::runtime

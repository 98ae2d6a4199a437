// SPDX-License-Identifier: Apache-2.0
// Puts what a pack has for Mesa's shader cache in place on this machine, so that rusticl compiles
// nothing at a kernel's first launch. Mesa reads it as a read-only database besides its own cache:
//
//     FOLDER/mesa_shader_cache_sf/<driver's id>/llvmpipe/kiln.foz, kiln_idx.foz, kiln.marker
//
// Done once, at installation or after an update. The driver's id is a hash that Mesa makes of its
// own build, of LLVM's and of the processor, the number of CPUs that the process may use among
// it: a folder of another id is never read, and does no harm.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kiln/packs/pack.hpp"
#include "runtime/opencl/error.hpp"

namespace kiln::runtime {

struct ProvisionResult {
  std::size_t places = 0;   // folders that now have what the pack has
  std::size_t written = 0;  // of these, how many had to be written
  std::size_t entries = 0;  // in these folders
  std::uint64_t bytes = 0;  // of the databases in them
};

// Writes what the pack's targets of the profile rusticl have. `folder` is made (0700) if only it
// is missing; it must belong to this user alone, and so must the folders below it. What another
// pack put there stays. What is there already is checked byte by byte, and only what differs is
// written: a second call writes nothing, and one after damage repairs it. Files are replaced
// whole, and a process that starts meanwhile finds the old entries or the new ones; only a
// repair should have the folder to itself. Any number of processes may call it, one works.
//
// Errors are Code::io_error with the file and what is in the way (a symbolic link, another
// owner, no permission, a full disk, a file of that name that is not Kiln's), or the pack's fault.
// What was written before an error stays; each place is whole or as it was.
Status provision_mesa(const packs::Pack &pack, const char *folder, ProvisionResult *out);

// Removes the three files of each place whose marker is Kiln's, and what killed calls left with
// them; no other file, no folder. `*removed`: the number of places. A missing folder is no error.
Status remove_provisioned(const char *folder, std::size_t *removed);

// Sets this process's environment so that Mesa reads what is in `folder`, and keeps its own
// cache there, too. To be called before the first call into OpenCL, and while no other thread
// reads or writes the environment. What the user has set for the kind of Mesa's cache stays.
void point_mesa_at(const char *folder);

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// Cached programs: if no pack has a program, the overlay stores the driver's build for later
// starts, in a pack for each program and device; and their launches.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kiln/packs/contents.hpp"
#include "runtime/api/api.hpp"
#include "runtime/source/whole_program.hpp"
#include "runtime/spool/devices.hpp"
#include "runtime/spool/launches.hpp"

namespace kiln::layer {

using source::WholeProgram;

// Creates a program from the text that was named. Returns null if the driver fails.
cl_program create_named(cl_context context, const WholeProgram &whole);

// A file in the overlay, and the launches after which its binary was taken.
struct KeptFile {
  std::string path;  // empty: launches do not matter, since the driver does not compile at them
  std::string lines;
};

// A program that an earlier start cached for the device and its current driver. The caller releases
// the pack. It is null if there is no overlay or no file, if the file does not hold this program
// for this device and driver, or if other users could write to it; then keep_program() replaces the
// file.
struct Kept {
  kiln_pack *pack = nullptr;
  std::optional<packs::BlobSource> binary;  // the pack's only binary
  KeptFile file;
};
Kept open_kept(const std::string &name, const kiln_device &device);
bool is_kept(const std::string &name, const kiln_device &device);

// Writes the program to OVERLAY/programs, with the driver's binary for the part's device: whole or
// not at all. Removes the program's binary by another driver. If there are kMostKept files, removes
// the least recently used first. Fails if the overlay belongs to another user or if others may
// write to it.
inline constexpr std::size_t kMostKept = 4096;  // an application may build new ones at each start
packs::Status keep_program(cl_program built, const Part &part, const WholeProgram &program,
                           KeptFile *file);

// Notes, beside the cached programs, that programs with these names are parts of a link that is
// cached for the device. If the next start compiles them in the same way, the link serves it, and
// the parts need not be compiled.
void keep_parts(const std::vector<std::string> &names, const kiln_device &device);
bool is_part(const std::string &name, const kiln_device &device);

// Launches of cached programs that are not stored yet. Thread-safe.
class KeptLaunches {
 public:
  // Adds a successful launch of a cached program. Takes over its event, and holds the program until
  // the launch is settled.
  void add(const Launches::Fresh &launch, cl_event event);

  // Rewrites the files of programs with a completed launch. Returns at once if nothing is waiting.
  void settle();

  // Returns the number of references that the application does not know about.
  cl_uint held(cl_program program) const;

 private:
  struct Waiting {
    Launches::Fresh launch;
    cl_event event;
  };

  std::vector<Waiting> take_all();

  mutable std::mutex mutex_;
  std::vector<Waiting> waiting_;
  std::atomic<bool> is_waiting_{false};
  std::atomic_flag settling_ = ATOMIC_FLAG_INIT;
};

// Never destroyed, like objects().
KeptLaunches &kept_launches();

}  // namespace kiln::layer

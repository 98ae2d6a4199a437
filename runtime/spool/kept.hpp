// SPDX-License-Identifier: Apache-2.0
// Programs that no pack has: what the driver builds of them is kept in the overlay, a pack for each
// program and device, for later starts; and their launches.
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

// A file in the overlay, and the launches after which its binary was taken.
struct KeptFile {
  std::string path;  // empty: the driver does not compile at launches, so that none matter
  std::string lines;
};

// What an earlier start kept of the program for the device and its driver as it is now. The caller
// releases the pack; null: there is none, or no overlay, or the file does not hold this program for
// this device and driver, or others than the user may have written it: keep_program() replaces it.
struct Kept {
  kiln_pack *pack = nullptr;
  std::optional<packs::BlobSource> binary;  // the only one of the pack
  KeptFile file;
};
Kept open_kept(const std::string &name, const kiln_device &device);
bool is_kept(const std::string &name, const kiln_device &device);

// OVERLAY/programs gets the program with the binary that the driver gives for it and the part's
// device: whole or not at all; a binary of it that another driver made is removed. If there are
// kMostKept files, those that were not used for the longest go. Fails if the overlay is another
// user's, or if others may write to it.
inline constexpr std::size_t kMostKept = 4096;  // an application may make others at each start
packs::Status keep_program(cl_program built, const Part &part, const WholeProgram &program,
                           KeptFile *file);

// Notes, beside what is kept, that programs of these names are parts of a link that is kept for the
// device: it serves the next start if they are compiled as then, and they need not be.
void keep_parts(const std::vector<std::string> &names, const kiln_device &device);
bool is_part(const std::string &name, const kiln_device &device);

// Any thread may call anything.
class KeptLaunches {
 public:
  // A launch of a kept program that succeeded. Takes over the event, which is the launch's. Holds
  // the program until it is settled.
  void add(const Launches::Fresh &launch, cl_event event);

  // Writes the files of programs with a finished launch again. Returns at once if nothing waits.
  void settle();

  // References that the application does not know of.
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

// Never destroyed, as Objects.
KeptLaunches &kept_launches();

}  // namespace kiln::layer

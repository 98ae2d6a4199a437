// SPDX-License-Identifier: Apache-2.0
// Writes files whole or not at all. Kiln writes all its files this way.
#pragma once

#include <string>

#include <sys/types.h>

#include "kiln/packs/descriptor.hpp"

namespace kiln::packs {

// A temporary file that gets its real name when it is complete. Order of calls: create, any number
// of write, commit. Destroying an uncommitted file removes it. Errors are errno numbers; 0 is
// success. Not thread-safe.
class AtomicFile {
 public:
  AtomicFile() = default;
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;
  ~AtomicFile();

  // Creates the file `temporary`, in the folder of the real name. Both names are relative to `at`,
  // a descriptor that outlives this object, or kWorkingFolder (files.hpp). Returns EEXIST if the
  // name is taken: the caller makes it unique.
  int create(int at, std::string temporary, mode_t mode);
  int write(View bytes, std::uint64_t offset);
  // Syncs the file, renames it to `name`, and syncs `folder`, which holds the name; -1: a folder
  // that cannot be opened. If this fails before the rename, the old file at `name` is untouched.
  // Unsynced, the file may be empty or incomplete after a loss of power.
  int commit(const std::string &name, int folder, bool is_synced = true);

 private:
  int at_ = -1;
  std::string temporary_;  // empty: there is no file
  Descriptor file_;
};

// Returns a number that no other process and no earlier call gets, for file names: a hash of the
// time, the process and a counter. Thread-safe.
std::uint64_t unique_number();

}  // namespace kiln::packs

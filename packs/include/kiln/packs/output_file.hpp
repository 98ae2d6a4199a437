// SPDX-License-Identifier: Apache-2.0
// A pack, or another file written at a path: an AtomicFile with a position and messages.
#pragma once

#include <string>

#include "kiln/packs/atomic_file.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/status.hpp"

namespace kiln::packs {

// Order of calls: open, then any number of append, then optionally rewrite_start, then
// commit. Destroying an uncommitted file removes it. Not thread-safe.
class OutputFile {
 public:
  // Creates a temporary file with a unique name in the folder of `path`. If `path` is a symbolic
  // link, uses the folder of the link's target, which must exist. Only the owner may read a private
  // file, which replaces a link.
  Status open(const std::string &path, bool is_private = false);
  Status append(View bytes);
  // Appends zero bytes up to the next multiple of kAlignment.
  Status align();
  std::uint64_t size() const { return size_; }
  // Overwrites the first bytes of the file, which were appended earlier.
  Status rewrite_start(View bytes);
  // Syncs the file, renames it to `path`, syncs the folder; or only renames it.
  Status commit(bool is_synced = true);

 private:
  Status flush();
  Status write_at(View bytes, std::uint64_t offset);

  std::string path_;    // for messages
  std::string target_;  // `path_`, or the target of a symbolic link there
  AtomicFile file_;
  std::uint64_t size_ = 0;  // including the pending bytes
  Bytes pending_;           // appended, not yet written
};

}  // namespace kiln::packs

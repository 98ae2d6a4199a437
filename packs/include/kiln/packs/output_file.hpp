// SPDX-License-Identifier: Apache-2.0
// A pack, or another file that is written at a path: an AtomicFile with a position and messages.
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
  // Creates a temporary file with a unique name in the folder of `path`, or, where that is a
  // symbolic link, of the file that it leads to; there must be one. A private file is its owner's
  // alone, and replaces a link.
  Status open(const std::string &path, bool is_private = false);
  Status append(View bytes);
  // Zero bytes up to the next multiple of kAlignment.
  Status align();
  std::uint64_t size() const { return size_; }
  // Overwrites the file's first bytes, which were appended before.
  Status rewrite_start(View bytes);
  // Syncs the file, renames it to `path`, syncs the folder.
  Status commit();

 private:
  Status flush();
  Status write_at(View bytes, std::uint64_t offset);

  std::string path_;    // for messages
  std::string target_;  // the same, or what it leads to as a symbolic link
  AtomicFile file_;
  std::uint64_t size_ = 0;  // with what is pending
  Bytes pending_;           // appended, not yet written
};

}  // namespace kiln::packs

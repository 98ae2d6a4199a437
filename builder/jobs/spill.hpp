// SPDX-License-Identifier: Apache-2.0
// Blobs of a build's results on disk, so that its memory does not grow with them.
#pragma once

#include <cstdint>
#include <memory>

#include "kiln/packs/contents.hpp"
#include "kiln/packs/descriptor.hpp"

namespace kiln::builder {

// A file without a name below TMPDIR or /tmp, which is made when it is first needed and lives as
// long as a blob that is in it. Not thread-safe.
class Spill {
 public:
  // Moves the bytes of a blob that is in memory to the file. They stay where they are if they are
  // few, or if the file cannot be made or written.
  void take(packs::BlobSource *blob);
  // Of a binary and its auxiliary blob.
  void take(packs::Binary *binary);

 private:
  std::shared_ptr<const packs::Descriptor> file_;
  std::uint64_t size_ = 0;
  bool is_refused_ = false;  // by the disk
};

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// The source of a pack's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/descriptor.hpp"
#include "kiln/packs/status.hpp"

namespace kiln::packs {

// The bytes of a pack: a range of a file, or the caller's memory. A file is read and never mapped:
// if it is written to or cut while the pack is open, a read or a hash check fails, but the process
// does not end.
class Storage {
 public:
  // Keeps a descriptor of its own. If the file ends before the range does, takes the bytes up to
  // there.
  Status open(int fd, std::uint64_t offset, std::uint64_t length);
  void borrow(View view) {
    memory_ = view.data;
    size_ = view.size;
  }

  // Takes the range of another storage, which may be destroyed afterwards.
  Status share(const Storage &other);

  std::uint64_t size() const { return size_; }
  // Returns whether the application has closed the descriptor, so that nothing can be read.
  bool is_lost() const { return memory_ == nullptr && file_.get() < 0; }
  const std::uint8_t *memory() const { return memory_; }  // null for a file
  // Reads a range within size().
  Status read(std::uint64_t offset, std::size_t size, std::uint8_t *to) const;
  // Copies a range to memory that is aligned for any type.
  Status own(std::uint64_t offset, std::size_t size, std::unique_ptr<std::uint8_t[]> *out) const;

 private:
  const std::uint8_t *memory_ = nullptr;
  KeptDescriptor file_;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace kiln::packs

// SPDX-License-Identifier: Apache-2.0
// From where a pack's bytes are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/descriptor.hpp"
#include "kiln/packs/status.hpp"

namespace kiln::packs {

// Where the bytes of a pack are: a range of a file, or the caller's memory. A file is read and
// never mapped: one that is written to or cut while the pack is open makes a read fail, or its
// hash, and cannot end the process.
class Storage {
 public:
  // Keeps a descriptor of its own. Of a file that ends before the range does, what there is.
  Status open(int fd, std::uint64_t offset, std::uint64_t length);
  void borrow(View view) {
    memory_ = view.data;
    size_ = view.size;
  }

  // The range of another, which may go.
  Status share(const Storage &other);

  std::uint64_t size() const { return size_; }
  const std::uint8_t *memory() const { return memory_; }  // null: a file
  // A range that size() has.
  Status read(std::uint64_t offset, std::size_t size, std::uint8_t *to) const;
  // A copy in memory that is aligned for any type.
  Status own(std::uint64_t offset, std::size_t size, std::unique_ptr<std::uint8_t[]> *out) const;

 private:
  const std::uint8_t *memory_ = nullptr;
  Descriptor file_;
  std::uint64_t offset_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace kiln::packs

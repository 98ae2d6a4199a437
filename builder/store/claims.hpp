// SPDX-License-Identifier: Apache-2.0
// Which jobs a builder is at, for other builders with the same store. Linux.
#pragma once

#include <optional>
#include <string>

#include "kiln/packs/contents.hpp"
#include "kiln/packs/descriptor.hpp"

namespace kiln::builder {

// A claim is a lock on one byte of a file beside the store, whose place is the first bytes of the
// job's key. The kernel ends it with the process that has it, however that ends: there is no
// claimer that is dead, and none whose process id another has now. Where the file system has no
// such locks everything may be claimed, and two builders may do the same job.
class Claims {
 public:
  // Held until it goes, or its Claims does.
  class Claim {
   public:
    Claim(int file, long place) : file_(file), place_(place) {}
    static Claim none() { return {-1, 0}; }
    Claim(Claim &&other) noexcept : file_(other.file_), place_(other.place_) { other.file_ = -1; }
    Claim &operator=(Claim &&other) noexcept;
    ~Claim() { release(); }
    void release();

   private:
    int file_;
    long place_;
  };

  // Opens or makes the file; one that cannot be opened is none that has locks.
  explicit Claims(const std::string &path);

  // Nothing if another builder has it.
  std::optional<Claim> take(const packs::Digest &key) const;
  // Waits for the other.
  Claim await(const packs::Digest &key) const;
  // The one that no key has.
  Claim await_first() const;

 private:
  packs::Descriptor file_;
};

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// A number that a process shares with those that it forks.
#pragma once

#include <atomic>
#include <new>

#include <sys/mman.h>

namespace kiln::builder {

// Stays 0 where the system has no memory for it. Forked processes may outlive it.
class SharedNumber {
 public:
  SharedNumber() {
    void *page = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) value_ = new (page) std::atomic<int>(0);
  }
  ~SharedNumber() {
    if (value_ != nullptr) munmap(value_, sizeof(*value_));
  }
  SharedNumber(const SharedNumber &) = delete;

  int get() const { return value_ != nullptr ? value_->load() : 0; }
  void set(int value) {
    if (value_ != nullptr) value_->store(value);
  }

 private:
  std::atomic<int> *value_ = nullptr;
};

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/launch/allocations.hpp"

#include <cstdlib>
#include <new>

namespace {
thread_local long made = 0;
}  // namespace

namespace kiln::test {
long allocations() { return made; }
}  // namespace kiln::test

void *operator new(std::size_t size) {
  ++made;
  void *memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}
void *operator new[](std::size_t size) { return operator new(size); }
void *operator new(std::size_t size, const std::nothrow_t &) noexcept { return operator new(size); }
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept {
  return operator new(size);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void *memory, const std::nothrow_t &) noexcept { std::free(memory); }
void operator delete[](void *memory, const std::nothrow_t &) noexcept { std::free(memory); }

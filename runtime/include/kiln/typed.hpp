// SPDX-License-Identifier: Apache-2.0
/// @file
/// C++17 over launch.hpp: arguments with the types that a kernel's source declares. Headers that
/// `kiln stubs` writes include it; an application may use BufferOf by itself.
/// @code{.cpp}
/// auto loaded = kernels::scale::load(*loader);
/// auto scale = kernels::scale::scale::create(*loaded.program);
/// auto values = kiln::BufferOf<float>::create(*loader, 1000, KILN_ACCESS_BOTH);
/// auto event = (*scale)(*queue, {1, {1000}, {}, {}}, *values, 0.5f);
/// @endcode
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "kiln/launch.hpp"
#include "kiln/listing.hpp"

namespace kiln {

/// A buffer whose elements are T, which it owns as Buffer does.
template <typename T>
class BufferOf : public Buffer {
 public:
  BufferOf() = default;
  /// Takes over a buffer, whose elements the caller knows to be T.
  explicit BufferOf(Buffer buffer) : Buffer(std::move(buffer)) {}
  /// Creates a buffer of `count` elements; see kiln_buffer_create().
  static Result<BufferOf> create(const Loader &loader, std::size_t count, kiln_access access) {
    if (count > SIZE_MAX / sizeof(T)) {
      kiln_error error{};
      error.status = KILN_ERROR_ARGUMENT;
      std::strcpy(error.message, "a buffer is larger than memory");
      return error;
    }
    auto made = Buffer::create(loader, count * sizeof(T), access);
    if (!made) return made.error();
    return BufferOf(std::move(*made));
  }
  /// Maps the elements; see kiln_buffer_map().
  Result<T *> map(const Queue &queue) const {
    auto address = Buffer::map(queue);
    if (!address) return address.error();
    return static_cast<T *>(*address);
  }
};

namespace detail {

/// A buffer or shared virtual memory.
class MemoryRef {
 public:
  explicit MemoryRef(const Buffer &buffer) : buffer_(&buffer) {}
  explicit MemoryRef(const void *pointer) : pointer_(pointer) {}
  /// Sets a kernel's argument to the memory.
  Status set(const Kernel &kernel, unsigned index) const {
    return buffer_ != nullptr ? kernel.set(index, *buffer_) : kernel.set(index, svm(pointer_));
  }

 private:
  const Buffer *buffer_ = nullptr;
  const void *pointer_ = nullptr;
};

}  // namespace detail

/// Memory that a kernel takes, with its elements' type; const: the kernel only reads it. A buffer
/// must outlive the call.
template <typename T>
class BufferRef : public detail::MemoryRef {
 public:
  /// A buffer of the same elements.
  template <typename U,
            typename = std::enable_if_t<std::is_convertible_v<U *, T *> && sizeof(U) == sizeof(T)>>
  BufferRef(const BufferOf<U> &buffer) : MemoryRef(buffer) {}
  /// Shared virtual memory of the same elements: svm(pointer).
  template <typename U,
            typename = std::enable_if_t<std::is_convertible_v<U *, T *> && sizeof(U) == sizeof(T)>>
  BufferRef(Svm<U> memory) : MemoryRef(memory.pointer) {}
  /// Any buffer, whose elements the caller knows to be T: BufferRef<float>(buffer).
  explicit BufferRef(const Buffer &buffer) : MemoryRef(buffer) {}
};

/// Memory of elements whose type only the kernel's source knows: any buffer.
template <>
class BufferRef<void> : public detail::MemoryRef {
 public:
  /// Any buffer.
  BufferRef(const Buffer &buffer) : MemoryRef(buffer) {}
  /// Any shared virtual memory: svm(pointer).
  template <typename U>
  BufferRef(Svm<U> memory) : MemoryRef(memory.pointer) {}
};

/// A number that a kernel takes. An integer converts to an integer that is not smaller, and a
/// floating-point number to one that is not smaller; nothing else converts.
template <typename T>
class Value {
 public:
  /// The number.
  template <typename U,
            typename = std::enable_if_t<std::is_arithmetic_v<U> && !std::is_same_v<U, bool> &&
                                        std::is_integral_v<U> == std::is_integral_v<T> &&
                                        sizeof(U) <= sizeof(T)>>
  constexpr Value(U value) : value_(static_cast<T>(value)) {}
  /// The number.
  constexpr const T &get() const { return value_; }

 private:
  T value_;
};

/// What a load does if the pack has another version of a program than the header was made from.
enum class IfStale {
  tell,  ///< Loads it; TypedLoad::stale says so.
  fail   ///< Fails with #KILN_ERROR_NOT_IN_PACK.
};

/// Result of a load by a header of `kiln stubs`.
struct TypedLoad : Loaded {
  /// "the pack has another version of laplace", or empty.
  std::string stale;
};

/// Loads a program, and compares its hash in the pack with the one in the header; see
/// kiln_loader_program_hash(). A header calls this.
inline TypedLoad load_typed(const Loader &loader, const char *program, std::uint64_t hash,
                            IfStale if_stale, const std::string &variant = {}, unsigned flags = 0) {
  const std::uint64_t found = program_hash(loader, program);
  std::string stale;
  if (found != 0 && found != hash) {
    stale = std::string("the pack has another version of ") + program;
  }
  if (!stale.empty() && if_stale == IfStale::fail) {
    kiln_error error{};
    error.status = KILN_ERROR_NOT_IN_PACK;
    std::strncpy(error.message, stale.c_str(), sizeof(error.message) - 1);
    return {{Result<Program>(error), Report()}, std::move(stale)};
  }
  return {loader.load(program, variant, flags), std::move(stale)};
}

namespace detail {

/// Sets an argument to the bytes of a value whose type the application has, too.
template <std::size_t Size, typename T>
Status set_struct(const Kernel &kernel, unsigned index, const T &value) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                "an argument is passed to the kernel as its bytes");
  static_assert(Size == 0 || sizeof(T) == Size, "the kernel's type has another size");
  return kernel.set_bytes(index, &value, sizeof(value));
}

}  // namespace detail
}  // namespace kiln

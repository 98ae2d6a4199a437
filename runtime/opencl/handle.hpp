// SPDX-License-Identifier: Apache-2.0
// Owners of OpenCL objects.
#pragma once

#include <memory>
#include <utility>

#include "runtime/opencl/library.hpp"

namespace kiln::runtime {

// Owns one reference of an OpenCL object and gives it back through the table that it came
// from. Move only.
template <typename T>
class Handle {
 public:
  using Release = cl_int(CL_API_CALL *)(T);

  Handle() = default;
  Handle(T object, Release release) : object_(object), release_(release) {}
  Handle(Handle &&other) noexcept
      : object_(std::exchange(other.object_, nullptr)), release_(other.release_) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(object_, other.object_);
    std::swap(release_, other.release_);
    return *this;
  }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  ~Handle() {
    if (object_ != nullptr) release_(object_);
  }

  T get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T object_ = nullptr;
  Release release_ = nullptr;
};

}  // namespace kiln::runtime

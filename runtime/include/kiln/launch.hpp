// SPDX-License-Identifier: Apache-2.0
/// @file
/// C++17 over launch.h: the second half of kiln.hpp, which includes it.
/// @code{.cpp}
/// auto kernel = kiln::Kernel::create(*loaded.program);
/// auto queue = kiln::Queue::create(*loader);
/// kiln::Status set = kernel->set(0, *buffer);
/// if (set) set = kernel->set(1, 0.5f);
/// auto event = kernel->launch(*queue, {1, {1000, 0, 0}, {}, {}});
/// kiln::Status done = event->wait();
/// @endcode
#pragma once

#include <array>
#include <functional>
#include <initializer_list>
#include <type_traits>

#include "kiln/kiln.hpp"

namespace kiln {

/// An event, which stands for an enqueued command.
class Event {
 public:
  Event() = default;
  /// Takes over a handle of the C interface.
  explicit Event(kiln_event *handle) : handle_(handle) {}
  /// See kiln_event_from_cl().
  static Result<Event> from_cl(const Loader &loader, cl_event from) {
    return detail::make<Event, kiln_event>([&](kiln_event **out, kiln_error *error) {
      return kiln_event_from_cl(loader.get(), from, out, error);
    });
  }
  /// The handle, which stays owned by this object.
  kiln_event *get() const { return handle_.get(); }
  /// See kiln_event_cl().
  cl_event cl() const { return kiln_event_cl(get()); }
  /// See kiln_event_wait().
  Status wait() const {
    return detail::call([&](kiln_error *error) { kiln_event_wait(get(), error); });
  }
  /// See kiln_event_times().
  Result<kiln_times> times() const {
    kiln_times times{};
    kiln_error error{};
    if (kiln_event_times(get(), &times, &error) != KILN_OK) return error;
    return times;
  }
  /// See kiln_event_set_callback().
  Status set_callback(kiln_event_function function, void *user) const {
    return detail::call(
        [&](kiln_error *error) { kiln_event_set_callback(get(), function, user, error); });
  }

  /// Calls `function(kiln_event **, kiln_error *)` so that a command of the C interface makes or
  /// reuses the handle of `event`, which may be null.
  template <typename Function>
  static Status refill(Event *event, Function function) {
    Status status;
    kiln_event *handle = event == nullptr ? nullptr : event->handle_.release();
    function(event == nullptr ? nullptr : &handle, &status);
    if (event != nullptr) event->handle_.reset(handle);
    return status;
  }

 private:
  detail::Owner<kiln_event, kiln_event_release> handle_;
};

/// Events that a command waits for: {first, second}. Allocates nothing; the events must outlive the
/// call.
class WaitList {
 public:
  WaitList() = default;
  /// Takes the events, in any order.
  WaitList(std::initializer_list<std::reference_wrapper<const Event>> events)
      : count_(events.size()) {
    std::size_t i = 0;
    for (const Event &event : events) {
      if (i < events_.size()) events_[i++] = event.get();
    }
  }
  /// Returns the events for the C interface.
  const kiln_event *const *data() const { return events_.data(); }
  std::size_t size() const { return count_; }  ///< the call refuses too many

 private:
  std::array<const kiln_event *, KILN_MAX_WAITS> events_{};
  std::size_t count_ = 0;
};

/// A command queue.
class Queue {
 public:
  Queue() = default;
  /// Takes over a handle of the C interface.
  explicit Queue(kiln_queue *handle) : handle_(handle) {}
  /// See kiln_queue_create().
  static Result<Queue> create(const Loader &loader, const kiln_queue_options *options = nullptr) {
    return detail::make<Queue, kiln_queue>([&](kiln_queue **out, kiln_error *error) {
      return kiln_queue_create(loader.get(), options, out, error);
    });
  }
  /// The handle, which stays owned by this object.
  kiln_queue *get() const { return handle_.get(); }
  /// See kiln_queue_cl().
  cl_command_queue cl() const { return kiln_queue_cl(get()); }
  /// See kiln_queue_hints().
  unsigned hints() const { return kiln_queue_hints(get()); }
  /// See kiln_queue_flush().
  Status flush() const {
    return detail::call([&](kiln_error *error) { kiln_queue_flush(get(), error); });
  }
  /// See kiln_queue_finish().
  Status finish() const {
    return detail::call([&](kiln_error *error) { kiln_queue_finish(get(), error); });
  }

 private:
  detail::Owner<kiln_queue, kiln_queue_release> handle_;
};

/// A buffer in memory.
class Buffer {
 public:
  Buffer() = default;
  /// Takes over a handle of the C interface.
  explicit Buffer(kiln_buffer *handle) : handle_(handle) {}
  /// See kiln_buffer_create().
  static Result<Buffer> create(const Loader &loader, std::size_t size, kiln_access access) {
    return detail::make<Buffer, kiln_buffer>([&](kiln_buffer **out, kiln_error *error) {
      return kiln_buffer_create(loader.get(), size, access, out, error);
    });
  }
  /// See kiln_buffer_from_host().
  static Result<Buffer> from_host(const Loader &loader, void *memory, std::size_t size,
                                  kiln_access access) {
    return detail::make<Buffer, kiln_buffer>([&](kiln_buffer **out, kiln_error *error) {
      return kiln_buffer_from_host(loader.get(), memory, size, access, out, error);
    });
  }
  /// See kiln_buffer_from_cl().
  static Result<Buffer> from_cl(const Loader &loader, cl_mem from, kiln_access access) {
    return detail::make<Buffer, kiln_buffer>([&](kiln_buffer **out, kiln_error *error) {
      return kiln_buffer_from_cl(loader.get(), from, access, out, error);
    });
  }
  /// The handle, which stays owned by this object.
  kiln_buffer *get() const { return handle_.get(); }
  /// See kiln_buffer_cl().
  cl_mem cl() const { return kiln_buffer_cl(get()); }
  /// See kiln_buffer_zero_copy().
  bool zero_copy() const { return kiln_buffer_zero_copy(get()) != 0; }
  /// See kiln_buffer_map().
  Result<void *> map(const Queue &queue) const {
    void *address = nullptr;
    kiln_error error{};
    if (kiln_buffer_map(queue.get(), get(), &address, &error) != KILN_OK) return error;
    return address;
  }
  /// See kiln_buffer_unmap().
  Status unmap(const Queue &queue) const {
    return detail::call([&](kiln_error *error) { kiln_buffer_unmap(queue.get(), get(), error); });
  }
  /// See kiln_buffer_map_async(). `event` gets the event and may be reused; null: none.
  Result<void *> map_async(const Queue &queue, Event *event, const WaitList &wait = {}) const {
    void *address = nullptr;
    const Status status = Event::refill(event, [&](kiln_event **to, kiln_error *error) {
      kiln_buffer_map_async(queue.get(), get(), wait.data(), wait.size(), &address, to, error);
    });
    if (!status) return status;
    return address;
  }
  /// See kiln_buffer_unmap_async().
  Status unmap_async(const Queue &queue, Event *event, const WaitList &wait = {}) const {
    return Event::refill(event, [&](kiln_event **to, kiln_error *error) {
      kiln_buffer_unmap_async(queue.get(), get(), wait.data(), wait.size(), to, error);
    });
  }

 private:
  detail::Owner<kiln_buffer, kiln_buffer_release> handle_;
};

/// An image in memory.
class Image {
 public:
  /// A mapped image.
  struct Mapping {
    /// Address of the first pixel.
    void *address = nullptr;
    /// Distance between rows in bytes.
    std::size_t row_pitch = 0;
  };

  Image() = default;
  /// Takes over a handle of the C interface.
  explicit Image(kiln_image *handle) : handle_(handle) {}
  /// See kiln_image_create().
  static Result<Image> create(const Loader &loader, std::size_t width, std::size_t height,
                              unsigned channels, kiln_access access) {
    return detail::make<Image, kiln_image>([&](kiln_image **out, kiln_error *error) {
      return kiln_image_create(loader.get(), width, height, channels, access, out, error);
    });
  }
  /// See kiln_image_from_cl().
  static Result<Image> from_cl(const Loader &loader, cl_mem from, kiln_access access) {
    return detail::make<Image, kiln_image>([&](kiln_image **out, kiln_error *error) {
      return kiln_image_from_cl(loader.get(), from, access, out, error);
    });
  }
  /// The handle, which stays owned by this object.
  kiln_image *get() const { return handle_.get(); }
  /// See kiln_image_cl().
  cl_mem cl() const { return kiln_image_cl(get()); }
  /// See kiln_image_map().
  Result<Mapping> map(const Queue &queue) const {
    Mapping mapping;
    kiln_error error{};
    if (kiln_image_map(queue.get(), get(), &mapping.address, &mapping.row_pitch, &error) !=
        KILN_OK) {
      return error;
    }
    return mapping;
  }
  /// See kiln_image_unmap().
  Status unmap(const Queue &queue) const {
    return detail::call([&](kiln_error *error) { kiln_image_unmap(queue.get(), get(), error); });
  }
  /// See kiln_image_map_async().
  Result<Mapping> map_async(const Queue &queue, Event *event, const WaitList &wait = {}) const {
    Mapping mapping;
    const Status status = Event::refill(event, [&](kiln_event **to, kiln_error *error) {
      kiln_image_map_async(queue.get(), get(), wait.data(), wait.size(), &mapping.address,
                           &mapping.row_pitch, to, error);
    });
    if (!status) return status;
    return mapping;
  }
  /// See kiln_image_unmap_async().
  Status unmap_async(const Queue &queue, Event *event, const WaitList &wait = {}) const {
    return Event::refill(event, [&](kiln_event **to, kiln_error *error) {
      kiln_image_unmap_async(queue.get(), get(), wait.data(), wait.size(), to, error);
    });
  }

 private:
  detail::Owner<kiln_image, kiln_image_release> handle_;
};

/// Returns the OpenCL C type that T is on the device, whatever its name is here.
template <typename T>
constexpr kiln_type type_of() {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8,
                "no type of a kernel's argument");
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? KILN_TYPE_FLOAT : KILN_TYPE_DOUBLE;
  } else if constexpr (std::is_signed_v<T>) {
    return sizeof(T) == 1   ? KILN_TYPE_CHAR
           : sizeof(T) == 2 ? KILN_TYPE_SHORT
           : sizeof(T) == 4 ? KILN_TYPE_INT
                            : KILN_TYPE_LONG;
  } else {
    return sizeof(T) == 1   ? KILN_TYPE_UCHAR
           : sizeof(T) == 2 ? KILN_TYPE_USHORT
           : sizeof(T) == 4 ? KILN_TYPE_UINT
                            : KILN_TYPE_ULONG;
  }
}

/// Local memory for a `__local` argument: set(3, local(1024)).
struct Local {
  std::size_t bytes;  ///< Size for each work-group.
};
/// Returns local memory of that many bytes for each work-group.
constexpr Local local(std::size_t bytes) { return {bytes}; }

/// A pointer to shared virtual memory for an argument: set(0, svm(pointer)).
template <typename T>
struct Svm {
  T *pointer;  ///< An address in memory of clSVMAlloc().
};
/// Returns the pointer for an argument.
template <typename T>
constexpr Svm<T> svm(T *pointer) {
  return {pointer};
}

/// An entry point with its arguments, for one thread at a time.
class Kernel {
 public:
  Kernel() = default;
  /// Takes over a handle of the C interface.
  explicit Kernel(kiln_kernel *handle) : handle_(handle) {}
  /// See kiln_kernel_create(). An empty name takes the variant's first kernel.
  static Result<Kernel> create(const Program &program, const std::string &name = {}) {
    return detail::make<Kernel, kiln_kernel>([&](kiln_kernel **out, kiln_error *error) {
      return kiln_kernel_create(program.get(), name.empty() ? nullptr : name.c_str(), out, error);
    });
  }
  /// The handle, which stays owned by this object.
  kiln_kernel *get() const { return handle_.get(); }
  /// See kiln_kernel_cl().
  cl_kernel cl() const { return kiln_kernel_cl(get()); }
  /// See kiln_kernel_set_buffer().
  Status set(unsigned index, const Buffer &buffer) const {
    return detail::call(
        [&](kiln_error *error) { kiln_kernel_set_buffer(get(), index, buffer.get(), error); });
  }
  /// See kiln_kernel_set_image().
  Status set(unsigned index, const Image &image) const {
    return detail::call(
        [&](kiln_error *error) { kiln_kernel_set_image(get(), index, image.get(), error); });
  }
  /// See kiln_kernel_set_local().
  Status set(unsigned index, Local memory) const {
    return detail::call(
        [&](kiln_error *error) { kiln_kernel_set_local(get(), index, memory.bytes, error); });
  }
  /// See kiln_kernel_set_sampler().
  Status set(unsigned index, cl_sampler sampler) const {
    return detail::call(
        [&](kiln_error *error) { kiln_kernel_set_sampler(get(), index, sampler, error); });
  }
  /// See kiln_kernel_set_svm().
  template <typename T>
  Status set(unsigned index, Svm<T> memory) const {
    return detail::call(
        [&](kiln_error *error) { kiln_kernel_set_svm(get(), index, memory.pointer, error); });
  }
  /// Sets a number of exactly the type that the kernel takes: set(2, 1.0f). If the pack knows the
  /// type, any other is #KILN_ERROR_ARGUMENT; nothing is converted. See kiln_kernel_set_typed().
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Status set(unsigned index, T value) const {
    return set_typed(index, type_of<T>(), 1, &value);
  }
  /// Sets a vector: std::array<float, 4> for a float4.
  template <typename T, std::size_t N>
  Status set(unsigned index, const std::array<T, N> &value) const {
    static_assert(N == 2 || N == 3 || N == 4 || N == 8 || N == 16, "OpenCL C has no such vector");
    return set_typed(index, type_of<T>(), N, value.data());
  }
  /// Sets a value of a type that C++ lacks (half) or that is known only at run time.
  Status set_typed(unsigned index, kiln_type type, unsigned components, const void *value) const {
    return detail::call([&](kiln_error *error) {
      kiln_kernel_set_typed(get(), index, type, components, value, error);
    });
  }
  /// Sets the bytes of a struct or of any other value; see kiln_kernel_set_value().
  Status set_bytes(unsigned index, const void *bytes, std::size_t size) const {
    return detail::call(
        [&](kiln_error *error) { kiln_kernel_set_value(get(), index, bytes, size, error); });
  }
  /// See kiln_kernel_plan().
  Result<kiln_ndrange> plan(const kiln_ndrange &range) const {
    kiln_ndrange planned{};
    kiln_error error{};
    if (kiln_kernel_plan(get(), &range, &planned, &error) != KILN_OK) return error;
    return planned;
  }
  /// See kiln_kernel_local_source().
  Result<kiln_local_source> local_source(const kiln_ndrange &range) const {
    kiln_local_source source{};
    kiln_error error{};
    if (kiln_kernel_local_source(get(), &range, &source, &error) != KILN_OK) return error;
    return source;
  }
  /** Returns why a launch does not use the driver's suggestion; see
   * kiln_kernel_suggestion_refused(). */
  const char *suggestion_refused(const kiln_ndrange &range) const {
    return kiln_kernel_suggestion_refused(get(), &range);
  }
  /// See kiln_launch().
  Result<Event> launch(const Queue &queue, const kiln_ndrange &range,
                       const WaitList &wait = {}) const {
    return detail::make<Event, kiln_event>([&](kiln_event **out, kiln_error *error) {
      return kiln_launch(queue.get(), get(), &range, wait.data(), wait.size(), out, error);
    });
  }
  /// Launches with an event that is reused, or null for none.
  Status launch_into(Event *event, const Queue &queue, const kiln_ndrange &range,
                     const WaitList &wait = {}) const {
    return Event::refill(event, [&](kiln_event **to, kiln_error *error) {
      kiln_launch(queue.get(), get(), &range, wait.data(), wait.size(), to, error);
    });
  }

 private:
  detail::Owner<kiln_kernel, kiln_kernel_release> handle_;
};

}  // namespace kiln

// SPDX-License-Identifier: Apache-2.0
// Buffers and images that the host accesses by mapping.
#pragma once

#include "runtime/launch/enqueue.hpp"

namespace kiln::runtime {

// A buffer or an image. `mapped` is the host's address while it is mapped.
struct Memory {
  Memory() = default;
  ~Memory();  // out of line saves code size

  std::shared_ptr<const Loader> loader;
  Handle<cl_mem> handle;
  cl_map_flags map_flags = 0;
  std::size_t size = 0;   // of buffers
  std::string image;      // "image2d_t", as OpenCL C names the kind of image; empty: a buffer
  std::size_t width = 0;  // of images
  std::size_t height = 0;
  bool zero_copy = false;
  void *mapped = nullptr;
  // The object of Khronos's extension for external memory that this is, or is part of; null: of
  // none. It must be acquired before and released after commands use it.
  Handle<cl_mem> external;
};

// The tightest flags for the kernels and for the host.
struct AccessFlags {
  cl_mem_flags kernels;
  cl_mem_flags host;
  cl_map_flags map;
};
AccessFlags flags_for(kiln_access access);

// The required alignment and size of buffers over host memory, in bytes.
constexpr std::size_t kHostAlignment = 4096;
constexpr std::size_t kHostSizeMultiple = 64;

// Sets `*out` to the order of that many channels; fails with Code::bad_argument for other numbers
// than 1, 2 and 4.
Status order_of(unsigned channels, cl_channel_order *out);

// Takes what `call` made, or says why it made nothing. If the driver handed out `made` together
// with an error, it is released.
Status take_memory(const std::shared_ptr<const Loader> &loader, cl_mem made, cl_int code,
                   const char *call, cl_map_flags map_flags, Memory *out);

// clImportMemoryARM, for a device that has an extension of the type in `properties`. Does not set
// the size of `out`.
Status import_by_arm(const std::shared_ptr<const Loader> &loader,
                     const cl_import_properties_arm *properties, void *memory, std::size_t size,
                     const AccessFlags &flags, Memory *out);

Status create_buffer(const std::shared_ptr<const Loader> &loader, std::size_t size,
                     kiln_access access, Memory *out);
Status buffer_from_host(const std::shared_ptr<const Loader> &loader, void *memory, std::size_t size,
                        kiln_access access, Memory *out);
Status create_image(const std::shared_ptr<const Loader> &loader, std::size_t width,
                    std::size_t height, unsigned channels, kiln_access access, Memory *out);
// Takes an application's image of any kind, or a buffer. Fails if the object is something else or
// belongs to another context.
Status memory_from_cl(const std::shared_ptr<const Loader> &loader, cl_mem from, bool is_image,
                      kiln_access access, Memory *out);

// Maps the whole object, as an image if `row_pitch` is not null; fails with Code::bad_argument for
// images that are not 2D. `event` may be null.
Status map(const Queue &queue, cl_bool blocking, const Waits &waits, Memory *memory,
           std::size_t *row_pitch, Handle<cl_event> *event);
// Never blocks.
Status unmap(const Queue &queue, const Waits &waits, Memory *memory, Handle<cl_event> *event);

}  // namespace kiln::runtime

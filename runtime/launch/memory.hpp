// SPDX-License-Identifier: Apache-2.0
// Buffers and images that the host reaches by mapping.
#pragma once

#include "runtime/launch/enqueue.hpp"

namespace kiln::runtime {

// A buffer or a 2D image. While it is mapped, `mapped` is the host's address.
struct Memory {
  Memory() = default;
  ~Memory();  // out of line: small

  std::shared_ptr<const Loader> loader;
  Handle<cl_mem> handle;
  cl_map_flags map_flags = 0;
  std::size_t size = 0;   // buffers
  std::size_t width = 0;  // images
  std::size_t height = 0;
  bool zero_copy = false;
  void *mapped = nullptr;
};

// The tightest flags for the kernels' side and for the host's.
struct AccessFlags {
  cl_mem_flags kernels;
  cl_mem_flags host;
  cl_map_flags map;
};
AccessFlags flags_for(kiln_access access);

// Takes what `call` made, or says why it made nothing. If the driver handed out `made` together
// with an error, it is released.
Status take_memory(const std::shared_ptr<const Loader> &loader, cl_mem made, cl_int code,
                   const char *call, cl_map_flags map_flags, Memory *out);

// clImportMemoryARM, for a device that has an extension of the type in `properties`. Does not set
// the size of `out`.
Status import_by_arm(const std::shared_ptr<const Loader> &loader,
                     const cl_import_properties_arm *properties, void *memory, std::size_t size,
                     const AccessFlags &flags, Memory *out);

// What buffers over the host's memory keep to.
constexpr std::size_t kHostAlignment = 4096;
constexpr std::size_t kHostSizeMultiple = 64;

Status create_buffer(const std::shared_ptr<const Loader> &loader, std::size_t size,
                     kiln_access access, Memory *out);
Status buffer_from_host(const std::shared_ptr<const Loader> &loader, void *memory, std::size_t size,
                        kiln_access access, Memory *out);
Status create_image(const std::shared_ptr<const Loader> &loader, std::size_t width,
                    std::size_t height, unsigned channels, kiln_access access, Memory *out);
// `type` is CL_MEM_OBJECT_BUFFER or CL_MEM_OBJECT_IMAGE2D; another's memory is refused, and so is
// that of another context.
Status memory_from_cl(const std::shared_ptr<const Loader> &loader, cl_mem from,
                      cl_mem_object_type type, kiln_access access, Memory *out);

// Maps the whole of it: an image where `row_pitch` is not null. `event` may be null.
Status map(const Queue &queue, cl_bool blocking, const Waits &waits, Memory *memory,
           std::size_t *row_pitch, Handle<cl_event> *event);
// Never blocks.
Status unmap(const Queue &queue, const Waits &waits, Memory *memory, Handle<cl_event> *event);

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// Buffers and images that the host accesses by mapping, and buffers over memory that the driver did
// not allocate: dma-bufs and Android's hardware buffers.
#pragma once

#include "kiln/import.h"
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
};

// The tightest flags for the kernels and for the host.
struct AccessFlags {
  cl_mem_flags kernels;
  cl_mem_flags host;
  cl_map_flags map;
};

// The required alignment and size of buffers over host memory, in bytes.
constexpr std::size_t kHostAlignment = 4096;
constexpr std::size_t kHostSizeMultiple = 64;

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

// cl_qcom_dmabuf_host_ptr and cl_qcom_android_ahardwarebuffer_host_ptr, which Khronos' headers
// lack. clCreateBuffer takes these structs in place of a host pointer.
constexpr cl_uint kDmaBufQcom = 0x411D;
constexpr cl_uint kHardwareBufferQcom = 0x4119;
struct DmaBufHostPtrQcom {
  cl_mem_ext_host_ptr head;
  int fd;
  void *mapped;
};
struct HardwareBufferHostPtrQcom {
  cl_mem_ext_host_ptr head;
  void *hardware_buffer;
};

// Fails with Code::bad_argument, without asking the driver, if the import certainly cannot work,
// and with Code::requirement if the device has no extension for it. `options` were checked.
Status import_dma_buf(const std::shared_ptr<const Loader> &loader, int fd, std::size_t size,
                      const kiln_import_options &options, Memory *out);
Status import_hardware_buffer(const std::shared_ptr<const Loader> &loader, void *hardware_buffer,
                              std::size_t size, const kiln_import_options &options, Memory *out);

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// Buffers over memory that the driver did not allocate: dma-bufs and Android's hardware buffers.
#pragma once

#include "kiln/import.h"
#include "runtime/launch/memory.hpp"

namespace kiln::runtime {

// cl_qcom_dmabuf_host_ptr and cl_qcom_android_ahardwarebuffer_host_ptr, which Khronos' headers
// lack: what clCreateBuffer takes in the place of a host pointer.
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

// Fails with Code::bad_argument before the driver is asked where that much is certain, and with
// Code::requirement where the device has no extension for it. `options` were checked.
Status import_dma_buf(const std::shared_ptr<const Loader> &loader, int fd, std::size_t size,
                      const kiln_import_options &options, Memory *out);
Status import_hardware_buffer(const std::shared_ptr<const Loader> &loader, void *hardware_buffer,
                              std::size_t size, const kiln_import_options &options, Memory *out);

}  // namespace kiln::runtime

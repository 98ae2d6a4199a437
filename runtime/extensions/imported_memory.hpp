// SPDX-License-Identifier: Apache-2.0
// Buffers and images over memory that the driver did not allocate: dma-bufs and Android's hardware
// buffers.
#pragma once

#include "kiln/import.h"
#include "runtime/launch/memory.hpp"

namespace kiln::runtime {

// cl_khr_external_memory and the kinds of handles, which older headers lack.
constexpr cl_mem_properties kDmaBufKhr = 0x2067;
constexpr cl_mem_properties kHardwareBufferKhr = 0x2070;
using ExternalMemoryCall = cl_int(CL_API_CALL *)(cl_command_queue queue, cl_uint count,
                                                 const cl_mem *objects, cl_uint wait_count,
                                                 const cl_event *waits, cl_event *event);

// cl_qcom_dmabuf_host_ptr and cl_qcom_android_ahardwarebuffer_host_ptr, which Khronos' headers
// lack. clCreateBuffer and clCreateImage take these structs in place of a host pointer.
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

// cl_qcom_other_image: a frame of two planes, and the order of the image that each plane is.
constexpr cl_channel_order kNv12Qcom = 0x4133;
constexpr cl_channel_order kNv12LumaQcom = 0x4134;
constexpr cl_channel_order kNv12ChromaQcom = 0x4135;

// These fail with Code::bad_argument, without asking the driver, if the import certainly cannot
// work, and with Code::requirement if the device has no extension for it. `options` were checked.
Status import_dma_buf(const std::shared_ptr<const Loader> &loader, int fd, std::size_t size,
                      const kiln_import_options &options, Memory *out);
Status import_hardware_buffer(const std::shared_ptr<const Loader> &loader, void *hardware_buffer,
                              std::size_t size, const kiln_import_options &options, Memory *out);
// `plane` is a known one.
Status import_frame(const std::shared_ptr<const Loader> &loader, void *hardware_buffer,
                    kiln_plane plane, const kiln_image_layout &layout,
                    const kiln_import_options &options, Memory *out);

// An image over part of the buffer, by cl_khr_image2d_from_buffer.
Status image_from_buffer(const Memory &buffer, const kiln_image_layout &layout, Memory *out);

// Takes imported memory over from its other users, or (`acquire` false) hands it to them. Memory
// that no such call is for only waits. `event` may be null.
Status hand_over(const Queue &queue, bool acquire, const Waits &waits, const Memory &memory,
                 Handle<cl_event> *event);

}  // namespace kiln::runtime

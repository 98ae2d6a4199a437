// SPDX-License-Identifier: Apache-2.0
// Imports memory by Khronos's, Arm's or Qualcomm's extension, after checking all that can be known
// beforehand. A plane of a frame is an image over part of a buffer, but with Qualcomm's extension.
#include "runtime/extensions/imported_memory.hpp"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#endif

namespace kiln::runtime {

namespace {

// A kind of memory, and the extensions that import it.
struct ImportKind {
  char what[20];  // for messages
  char khr[48];
  char arm[48];
  char qcom[48];
  cl_mem_properties khr_type;
  cl_uint arm_type;
  cl_uint qcom_type;
};
constexpr ImportKind kDmaBuf = {"the dma-buf",
                                "cl_khr_external_memory_dma_buf",
                                "cl_arm_import_memory_dma_buf",
                                "cl_qcom_dmabuf_host_ptr",
                                kDmaBufKhr,
                                CL_IMPORT_TYPE_DMA_BUF_ARM,
                                kDmaBufQcom};
constexpr ImportKind kHardwareBuffer = {"the hardware buffer",
                                        "cl_khr_external_memory_android_hardware_buffer",
                                        "cl_arm_import_memory_android_hardware_buffer",
                                        "cl_qcom_android_ahardwarebuffer_host_ptr",
                                        kHardwareBufferKhr,
                                        CL_IMPORT_TYPE_ANDROID_HARDWARE_BUFFER_ARM,
                                        kHardwareBufferQcom};

enum class Way { none, khr, arm, qcom };

// The arguments of the extensions for one memory.
struct External {
  cl_mem_properties khr_handle;
  std::size_t khr_size;
  void *arm_memory;
  std::size_t arm_size;
  cl_mem_ext_host_ptr *qcom;  // head of a larger struct; filled in by the import
};

Status refuse(const char *why) { return Status::error(Code::bad_argument, why); }

Status check_size(const ImportKind &kind, std::uint64_t bytes, std::uint64_t wanted) {
  if (wanted <= bytes) return {};
  return Status::error(Code::bad_argument, {kind.what, " has ", decimal(bytes), " bytes, and ",
                                            decimal(wanted), " are needed"});
}

std::size_t size_info(const Device &device, cl_device_info what, std::size_t otherwise) {
  std::size_t value = 0;
  const cl_int code = device.cl->clGetDeviceInfo(device.id, what, sizeof(value), &value, nullptr);
  return code == CL_SUCCESS ? value : otherwise;
}

cl_uint uint_info(const Device &device, cl_device_info what) {
  cl_uint value = 0;
  const cl_int code = device.cl->clGetDeviceInfo(device.id, what, sizeof(value), &value, nullptr);
  return code == CL_SUCCESS ? value : 0;
}

// Returns the first extension of the kind that the device has.
Way way_of(const ImportKind &kind, const Device &device) {
  const Capabilities &c = device.capabilities;
  if (c.has_extension(kind.khr)) return Way::khr;
  if (c.has_extension(kind.arm)) return Way::arm;
  return c.has_extension(kind.qcom) ? Way::qcom : Way::none;
}

Status no_way(const ImportKind &kind) {
  return Status::error(Code::requirement,
                       {"the device has none of ", kind.khr, ", ", kind.arm, ", ", kind.qcom});
}

// Fails with Code::bad_argument if the descriptor is certainly not a dma-buf. Sets `*bytes` to the
// buffer's size, or to UINT64_MAX if the system does not report it. The request has flags that no
// dma-buf accepts, so it has no effect.
Status check_dma_buf(int fd, std::uint64_t *bytes) {
  int error = fd < 0 ? EBADF : 0;
#ifdef __linux__
  // A dma-buf answers EINVAL; a file without this request answers ENOTTY. A security policy may
  // forbid the request.
  dma_buf_sync impossible{};
  impossible.flags = ~impossible.flags;
  if (fd >= 0 && ioctl(fd, DMA_BUF_IOCTL_SYNC, &impossible) != 0) error = errno;
#endif
  if (error == EBADF) return refuse("the file descriptor is not open");
  if (error == ENOTTY) return refuse("the file descriptor is not one of a dma-buf");
  const off_t end = lseek(fd, 0, SEEK_END);
  *bytes = end < 0 ? UINT64_MAX : static_cast<std::uint64_t>(end);
  return {};
}

// Checks Qualcomm's requirements for a dma-buf of `bytes` bytes and for its mapped address.
Status check_mapping(const Device &device, std::uint64_t bytes, std::size_t size,
                     const void *mapped) {
  const std::size_t page = size_info(device, CL_DEVICE_PAGE_SIZE_QCOM, kHostAlignment);
  const std::size_t padding = size_info(device, CL_DEVICE_EXT_MEM_PADDING_IN_BYTES_QCOM, 0);
  if (bytes - size < padding) return check_size(kDmaBuf, bytes, std::uint64_t{size} + padding);
  if (mapped == nullptr) {
    return refuse("cl_qcom_dmabuf_host_ptr needs the address at which the dma-buf is mapped");
  }
  if (page == 0 || reinterpret_cast<std::uintptr_t>(mapped) % page == 0) return {};
  return Status::error(
      Code::bad_argument,
      {"the dma-buf's address must be a multiple of the device's page size, ", decimal(page)});
}

// Takes what one of Khronos's functions made.
Status take_external(const std::shared_ptr<const Loader> &loader, cl_mem made, cl_int code,
                     const char *call, kiln_access access, Memory *out) {
  const OpenCL &cl = *loader->device->cl;
  Status e = take_memory(loader, made, code, call, flags_for(access).map, out);
  if (!e.ok()) return e;
  code = cl.clRetainMemObject(made);
  if (code != CL_SUCCESS) return cl_failure("clRetainMemObject", code);
  out->external = Handle<cl_mem>(made, cl.clReleaseMemObject);
  return {};
}

Status import_by_khr(const ImportKind &kind, const std::shared_ptr<const Loader> &loader,
                     const External &memory, kiln_access access, Memory *out) {
  const OpenCL &cl = *loader->device->cl;
  if (cl.clCreateBufferWithProperties == nullptr) {
    return Status::error(Code::requirement, "the driver has no clCreateBufferWithProperties");
  }
  const cl_mem_properties properties[] = {kind.khr_type, memory.khr_handle, 0};
  cl_int code = CL_SUCCESS;
  cl_mem made =
      cl.clCreateBufferWithProperties(loader->context.get(), properties, flags_for(access).kernels,
                                      memory.khr_size, nullptr, &code);
  return take_external(loader, made, code, "clCreateBufferWithProperties", access, out);
}

// Fills in the head that Qualcomm's structs begin with.
Status prepare_qcom(const ImportKind &kind, const Device &device,
                    const kiln_import_options &options, cl_mem_ext_host_ptr *head) {
  constexpr cl_uint policies[] = {CL_MEM_HOST_UNCACHED_QCOM, CL_MEM_HOST_WRITEBACK_QCOM,
                                  CL_MEM_HOST_IOCOHERENT_QCOM};
  if (options.host_cache == KILN_HOST_CACHE_COHERENT &&
      !device.capabilities.has_extension("cl_qcom_ext_host_ptr_iocoherent")) {
    return Status::error(Code::requirement,
                         "the device has no cl_qcom_ext_host_ptr_iocoherent for coherent memory");
  }
  *head = {kind.qcom_type, policies[options.host_cache]};
  return {};
}
constexpr cl_mem_flags kHostPtrQcom = CL_MEM_USE_HOST_PTR | CL_MEM_EXT_HOST_PTR_QCOM;

Status import_by_qcom(const ImportKind &kind, const std::shared_ptr<const Loader> &loader,
                      cl_mem_ext_host_ptr *host, std::size_t size,
                      const kiln_import_options &options, Memory *out) {
  const Device &device = *loader->device;
  const Status e = prepare_qcom(kind, device, options, host);
  if (!e.ok()) return e;
  const AccessFlags flags = flags_for(options.access);
  cl_int code = CL_SUCCESS;
  cl_mem made = device.cl->clCreateBuffer(loader->context.get(), flags.kernels | kHostPtrQcom, size,
                                          host, &code);
  return take_memory(loader, made, code, "clCreateBuffer with CL_MEM_EXT_HOST_PTR_QCOM", flags.map,
                     out);
}

Status import(const ImportKind &kind, const std::shared_ptr<const Loader> &loader,
              const External &memory, std::size_t size, const kiln_import_options &options,
              Memory *out) {
  const Device &device = *loader->device;
  Status e;
  switch (way_of(kind, device)) {
    case Way::none: return no_way(kind);
    case Way::khr: e = import_by_khr(kind, loader, memory, options.access, out); break;
    case Way::qcom: e = import_by_qcom(kind, loader, memory.qcom, size, options, out); break;
    case Way::arm: {
      const bool in_step = kind.arm_type == CL_IMPORT_TYPE_DMA_BUF_ARM &&
                           options.host_cache == KILN_HOST_CACHE_WRITEBACK;
      const cl_import_properties_arm properties[] = {
          CL_IMPORT_TYPE_ARM, static_cast<cl_import_properties_arm>(kind.arm_type),
          in_step ? CL_IMPORT_DMA_BUF_DATA_CONSISTENCY_WITH_HOST_ARM : 0, CL_TRUE, 0};
      e = import_by_arm(loader, properties, memory.arm_memory, memory.arm_size,
                        flags_for(options.access), out);
    }
  }
  if (!e.ok()) return e;
  out->size = size;
  out->zero_copy = true;
  std::size_t bytes = 0;
  const cl_int code =
      device.cl->clGetMemObjectInfo(out->handle.get(), CL_MEM_SIZE, sizeof(bytes), &bytes, nullptr);
  return check_size(kind, code == CL_SUCCESS ? bytes : size, size);
}

// Gives the order of the channels, and the row pitch.
Status check_layout(const kiln_image_layout &layout, cl_channel_order *order, std::size_t *pitch) {
  if (Status e = order_of(layout.channels, order); !e.ok()) return e;
  if (layout.width == 0 || layout.height == 0 || layout.width > SIZE_MAX / layout.channels) {
    return refuse("the image's width and height must not be 0 or out of range");
  }
  *pitch = layout.row_pitch != 0 ? layout.row_pitch : layout.width * layout.channels;
  return *pitch >= layout.width * layout.channels
             ? Status{}
             : refuse("the row pitch is less than a row of the image");
}

// Fails with Code::bad_argument if `bytes` is no multiple of `pixels` pixels (0: of anything).
Status check_multiple(const char *what, std::size_t bytes, std::size_t pixels, unsigned channels) {
  if (pixels == 0 || bytes % (pixels * channels) == 0) return {};
  return Status::error(Code::bad_argument, {what, " must be a multiple of ",
                                            decimal(pixels * channels), " bytes on this device"});
}

cl_image_desc description_of(const kiln_image_layout &layout, std::size_t pitch, cl_mem parent) {
  cl_image_desc made = {};
  made.image_type = CL_MEM_OBJECT_IMAGE2D;
  made.image_width = layout.width;
  made.image_height = layout.height;
  made.image_row_pitch = pitch;
  made.mem_object = parent;
  return made;
}

void describe(const kiln_image_layout &layout, Memory *out) {
  out->image = "image2d_t";
  out->width = layout.width;
  out->height = layout.height;
}

// The driver reads the frame's size and format from the hardware buffer itself.
Status frame_by_khr(const std::shared_ptr<const Loader> &loader, void *hardware_buffer,
                    const kiln_image_layout &layout, kiln_access access, Memory *out) {
  const OpenCL &cl = *loader->device->cl;
  if (cl.clCreateImageWithProperties == nullptr) {
    return Status::error(Code::requirement, "the driver has no clCreateImageWithProperties");
  }
  const cl_mem_properties properties[] = {kHardwareBufferKhr,
                                          reinterpret_cast<std::uintptr_t>(hardware_buffer), 0};
  cl_int code = CL_SUCCESS;
  cl_mem made =
      cl.clCreateImageWithProperties(loader->context.get(), properties, flags_for(access).kernels,
                                     nullptr, nullptr, nullptr, &code);
  Status e = take_external(loader, made, code, "clCreateImageWithProperties", access, out);
  if (!e.ok()) return e;
  std::size_t width = 0;
  std::size_t height = 0;
  code = cl.clGetImageInfo(made, CL_IMAGE_WIDTH, sizeof(width), &width, nullptr);
  if (code == CL_SUCCESS) {
    code = cl.clGetImageInfo(made, CL_IMAGE_HEIGHT, sizeof(height), &height, nullptr);
  }
  if (code != CL_SUCCESS) return cl_failure("clGetImageInfo", code);
  if (width != layout.width || height != layout.height) {
    return Status::error(
        Code::bad_argument,
        {"the hardware buffer is an image of ", decimal(width), " x ", decimal(height),
         " pixels, not ", decimal(layout.width), " x ", decimal(layout.height)});
  }
  describe(layout, out);
  return {};
}

Status frame_by_arm(const std::shared_ptr<const Loader> &loader, void *hardware_buffer,
                    kiln_plane plane, const kiln_image_layout &layout, kiln_access access,
                    Memory *out) {
  const OpenCL &cl = *loader->device->cl;
  const AccessFlags flags = flags_for(access);
  const cl_import_properties_arm properties[] = {
      CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_ANDROID_HARDWARE_BUFFER_ARM,
      plane == KILN_PLANE_NONE ? 0 : CL_IMPORT_ANDROID_HARDWARE_BUFFER_PLANE_INDEX_ARM,
      plane == KILN_PLANE_CHROMA ? 1 : 0, 0};
  Memory whole;
  Status e = import_by_arm(loader, properties, hardware_buffer,
                           CL_IMPORT_MEMORY_WHOLE_ALLOCATION_ARM, flags, &whole);
  if (!e.ok()) return e;
  cl_mem_object_type type = 0;
  cl_int code =
      cl.clGetMemObjectInfo(whole.handle.get(), CL_MEM_TYPE, sizeof(type), &type, nullptr);
  if (code == CL_SUCCESS && type == CL_MEM_OBJECT_IMAGE2D) {
    out->loader = loader;
    out->handle = std::move(whole.handle);
    out->map_flags = flags.map;
    describe(layout, out);
    return {};
  }
  if (code == CL_SUCCESS) {
    code = cl.clGetMemObjectInfo(whole.handle.get(), CL_MEM_SIZE, sizeof(whole.size), &whole.size,
                                 nullptr);
  }
  if (code != CL_SUCCESS) return cl_failure("clGetMemObjectInfo", code);
  return image_from_buffer(whole, layout, out);
}

// A plane is an image of the frame's image, with the frame's width and height.
Status frame_by_qcom(const std::shared_ptr<const Loader> &loader, void *hardware_buffer,
                     kiln_plane plane, const kiln_image_layout &layout, cl_channel_order order,
                     std::size_t pitch, const kiln_import_options &options, Memory *out) {
  const Device &device = *loader->device;
  const bool in_planes = plane != KILN_PLANE_NONE;
  if (in_planes && !device.capabilities.has_extension("cl_qcom_other_image")) {
    return Status::error(Code::requirement,
                         "the device has no cl_qcom_other_image for frames of two planes");
  }
  HardwareBufferHostPtrQcom host{{}, hardware_buffer};
  const Status e = prepare_qcom(kHardwareBuffer, device, options, &host.head);
  if (!e.ok()) return e;
  const AccessFlags flags = flags_for(options.access);
  kiln_image_layout frame = layout;
  if (plane == KILN_PLANE_CHROMA) {
    frame.width *= 2;
    frame.height *= 2;
  }
  cl_image_format format = {in_planes ? kNv12Qcom : order, CL_UNORM_INT8};
  cl_image_desc description = description_of(frame, in_planes ? 0 : pitch, nullptr);
  // A frame of two planes can only be read; its planes can also be written.
  const cl_mem_flags kernels = in_planes ? CL_MEM_READ_ONLY : flags.kernels;
  cl_int code = CL_SUCCESS;
  cl_mem made = device.cl->clCreateImage(loader->context.get(), kernels | kHostPtrQcom, &format,
                                         &description, &host, &code);
  describe(layout, out);
  constexpr char kCall[] = "clCreateImage with CL_MEM_EXT_HOST_PTR_QCOM";
  if (!in_planes) return take_memory(loader, made, code, kCall, flags.map, out);
  const Handle<cl_mem> whole(made, device.cl->clReleaseMemObject);
  if (!whole || code != CL_SUCCESS) return cl_failure(kCall, code);
  format.image_channel_order = plane == KILN_PLANE_LUMA ? kNv12LumaQcom : kNv12ChromaQcom;
  description = description_of(frame, 0, made);
  made = device.cl->clCreateImage(loader->context.get(), flags.kernels, &format, &description,
                                  nullptr, &code);
  return take_memory(loader, made, code, "clCreateImage of a plane", flags.map, out);
}

}  // namespace

Status import_dma_buf(const std::shared_ptr<const Loader> &loader, int fd, std::size_t size,
                      const kiln_import_options &options, Memory *out) {
  if (size == 0) return refuse("a buffer has at least 1 byte");
  std::uint64_t bytes = 0;
  Status e = check_dma_buf(fd, &bytes);
  if (e.ok()) e = check_size(kDmaBuf, bytes, size);
  const Way way = way_of(kDmaBuf, *loader->device);
  if (e.ok() && way == Way::qcom) {
    e = check_mapping(*loader->device, bytes, size, options.mapped);
  }
  if (!e.ok()) return e;
  int own = -1;
#ifdef F_DUPFD_CLOEXEC
  // With Khronos's extension a descriptor becomes the driver's own.
  if (way == Way::khr) {
    own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0) return refuse("the file descriptor cannot be duplicated");
  }
#endif
  DmaBufHostPtrQcom host{{}, fd, options.mapped};
  // Arm's driver takes a pointer to the descriptor.
  e = import(kDmaBuf, loader, {static_cast<cl_mem_properties>(own), size, &fd, size, &host.head},
             size, options, out);
  if (own >= 0 && !out->handle) close(own);
  return e;
}

Status import_hardware_buffer(const std::shared_ptr<const Loader> &loader, void *hardware_buffer,
                              std::size_t size, const kiln_import_options &options, Memory *out) {
  if (size == 0) return refuse("a buffer has at least 1 byte");
  HardwareBufferHostPtrQcom host{{}, hardware_buffer};
  // Khronos's and Arm's extensions import hardware buffers only as a whole.
  return import(kHardwareBuffer, loader,
                {reinterpret_cast<std::uintptr_t>(hardware_buffer), 0, hardware_buffer,
                 CL_IMPORT_MEMORY_WHOLE_ALLOCATION_ARM, &host.head},
                size, options, out);
}

Status import_frame(const std::shared_ptr<const Loader> &loader, void *hardware_buffer,
                    kiln_plane plane, const kiln_image_layout &layout,
                    const kiln_import_options &options, Memory *out) {
  cl_channel_order order = 0;
  std::size_t pitch = 0;
  const Status e = check_layout(layout, &order, &pitch);
  if (!e.ok()) return e;
  if (layout.offset != 0) return refuse("a plane of a hardware buffer has no offset");
  if (plane != KILN_PLANE_NONE && layout.channels != static_cast<unsigned>(plane)) {
    return refuse("a plane of luma has 1 channel, and one of chroma has 2");
  }
  const Capabilities &c = loader->device->capabilities;
  // Khronos's extension names no planes.
  if (plane == KILN_PLANE_NONE && c.has_extension(kHardwareBuffer.khr)) {
    return frame_by_khr(loader, hardware_buffer, layout, options.access, out);
  }
  if (c.has_extension(kHardwareBuffer.arm)) {
    return frame_by_arm(loader, hardware_buffer, plane, layout, options.access, out);
  }
  if (c.has_extension(kHardwareBuffer.qcom)) {
    return frame_by_qcom(loader, hardware_buffer, plane, layout, order, pitch, options, out);
  }
  return no_way(kHardwareBuffer);
}

Status image_from_buffer(const Memory &buffer, const kiln_image_layout &layout, Memory *out) {
  const std::shared_ptr<const Loader> &loader = buffer.loader;
  const Device &device = *loader->device;
  const OpenCL &cl = *device.cl;
  cl_channel_order order = 0;
  std::size_t pitch = 0;
  Status e = check_layout(layout, &order, &pitch);
  if (!e.ok()) return e;
  if (!device.capabilities.has_extension("cl_khr_image2d_from_buffer")) {
    return Status::error(Code::requirement, "the device has no cl_khr_image2d_from_buffer");
  }
  if (layout.offset > buffer.size || (buffer.size - layout.offset) / pitch < layout.height) {
    return refuse("the image's rows, each of the row pitch, go beyond the buffer");
  }
  e = check_multiple("the row pitch", pitch, uint_info(device, CL_DEVICE_IMAGE_PITCH_ALIGNMENT),
                     layout.channels);
  if (e.ok()) {
    e = check_multiple("the offset", layout.offset,
                       uint_info(device, CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT), layout.channels);
  }
  if (e.ok()) {  // in bits
    e = check_multiple("the offset", layout.offset,
                       uint_info(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8, 1);
  }
  if (!e.ok()) return e;
  cl_int code = CL_SUCCESS;
  Handle<cl_mem> part;
  if (layout.offset != 0) {
    if (cl.clCreateSubBuffer == nullptr) {
      return Status::error(Code::requirement, "the driver has no clCreateSubBuffer");
    }
    const cl_buffer_region region = {layout.offset, pitch * layout.height};
    part = Handle<cl_mem>(
        cl.clCreateSubBuffer(buffer.handle.get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code),
        cl.clReleaseMemObject);
    if (!part || code != CL_SUCCESS) return cl_failure("clCreateSubBuffer", code);
  }
  if (buffer.external) {
    code = cl.clRetainMemObject(buffer.external.get());
    if (code != CL_SUCCESS) return cl_failure("clRetainMemObject", code);
    out->external = Handle<cl_mem>(buffer.external.get(), cl.clReleaseMemObject);
  }
  const cl_image_format format = {order, CL_UNORM_INT8};
  const cl_image_desc description =
      description_of(layout, pitch, part ? part.get() : buffer.handle.get());
  // Without flags the image has the buffer's.
  cl_mem made = cl.clCreateImage(loader->context.get(), 0, &format, &description, nullptr, &code);
  describe(layout, out);
  return take_memory(loader, made, code, "clCreateImage of a buffer", buffer.map_flags, out);
}

Status hand_over(const Queue &queue, bool acquire, const Waits &waits, const Memory &memory,
                 Handle<cl_event> *event) {
  const Device &device = *queue.loader->device;
  const OpenCL &cl = *device.cl;
  cl_event made = nullptr;
  cl_event *wanted = event == nullptr ? nullptr : &made;
  if (!memory.external) {
    if (cl.clEnqueueMarkerWithWaitList == nullptr) {
      return Status::error(Code::requirement, "the driver has no clEnqueueMarkerWithWaitList");
    }
    const cl_int code =
        cl.clEnqueueMarkerWithWaitList(queue.handle.get(), waits.count, waits.data(), wanted);
    return take_event(cl, "clEnqueueMarkerWithWaitList", code, made, event);
  }
  const char *name =
      acquire ? "clEnqueueAcquireExternalMemObjectsKHR" : "clEnqueueReleaseExternalMemObjectsKHR";
  const auto call = extension_function<ExternalMemoryCall>(cl, device.platform, name);
  if (call == nullptr) return Status::error(Code::requirement, {"the driver has no ", name});
  const cl_mem object = memory.external.get();
  const cl_int code = call(queue.handle.get(), 1, &object, waits.count, waits.data(), wanted);
  return take_event(cl, name, code, made, event);
}

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// Chooses flags by who accesses the memory and by whether the device shares memory with the host.
// Imports memory by Arm's or Qualcomm's extension, after checking all that can be known beforehand.
#include "runtime/launch/memory.hpp"

#include <cerrno>

#include <unistd.h>

#ifdef __linux__
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#endif

namespace kiln::runtime {

namespace {

// Returns the flag for host memory, if mapping host memory then needs no copy.
cl_mem_flags place_on(const Device &device) {
  return device.capabilities.unified_memory ? cl_mem_flags{CL_MEM_ALLOC_HOST_PTR} : 0;
}

// Fails with Code::bad_argument if the descriptor is certainly not a dma-buf. Sets `*bytes` to the
// buffer's size, or to UINT64_MAX if the system does not report it. The request has flags that no
// dma-buf accepts, so it has no effect.
packs::Status check_dma_buf(int fd, std::uint64_t *bytes) {
  const auto refuse = [](const char *why) {
    return packs::Status::error(packs::Code::bad_argument, why);
  };
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

// A kind of memory, and the extensions that import it.
struct ImportKind {
  char what[20];  // for messages
  char arm[48];
  char qcom[48];
  cl_uint arm_type;
  cl_uint qcom_type;
};
constexpr ImportKind kDmaBuf = {"the dma-buf", "cl_arm_import_memory_dma_buf",
                                "cl_qcom_dmabuf_host_ptr", CL_IMPORT_TYPE_DMA_BUF_ARM, kDmaBufQcom};
constexpr ImportKind kHardwareBuffer = {
    "the hardware buffer", "cl_arm_import_memory_android_hardware_buffer",
    "cl_qcom_android_ahardwarebuffer_host_ptr", CL_IMPORT_TYPE_ANDROID_HARDWARE_BUFFER_ARM,
    kHardwareBufferQcom};

// The arguments of both extensions for one memory.
struct External {
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

AccessFlags flags_for(kiln_access access) {
  switch (access) {
    case KILN_ACCESS_READ:
      return {CL_MEM_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MAP_WRITE_INVALIDATE_REGION};
    case KILN_ACCESS_WRITE: return {CL_MEM_WRITE_ONLY, CL_MEM_HOST_READ_ONLY, CL_MAP_READ};
    case KILN_ACCESS_BOTH: break;
  }
  return {CL_MEM_READ_WRITE, 0, CL_MAP_READ | CL_MAP_WRITE};
}

// Takes what `call` made, or says why it made nothing. If the driver handed out `made` together
// with an error, it is released.
Status take_memory(const std::shared_ptr<const Loader> &loader, cl_mem made, cl_int code,
                   const char *call, cl_map_flags map_flags, Memory *out) {
  Handle<cl_mem> owned(made, loader->device->cl->clReleaseMemObject);
  if (!owned || code != CL_SUCCESS) return cl_failure(call, code);
  out->loader = loader;
  out->handle = std::move(owned);
  out->map_flags = map_flags;
  return {};
}

// Returns the type of the parameters that take the image: "image2d_array_depth_t".
std::string kind_of_image(const OpenCL &cl, cl_mem image, cl_mem_object_type type) {
  constexpr char names[][15] = {"image2d", "image3d",       "image2d_array",
                                "image1d", "image1d_array", "image1d_buffer"};
  static_assert(CL_MEM_OBJECT_IMAGE2D + 5 == CL_MEM_OBJECT_IMAGE1D_BUFFER);
  cl_image_format format{};
  cl_uint samples = 0;
  cl.clGetImageInfo(image, CL_IMAGE_FORMAT, sizeof(format), &format, nullptr);
  cl.clGetImageInfo(image, CL_IMAGE_NUM_SAMPLES, sizeof(samples), &samples, nullptr);
  constexpr cl_channel_order kDepthStencil = 0x10BE;  // not in every version of cl.h
  const cl_channel_order order = format.image_channel_order;
  const bool is_depth = order == CL_DEPTH || order == kDepthStencil;
  return concat({names[type - CL_MEM_OBJECT_IMAGE2D], samples > 1 ? "_msaa" : "",
                 is_depth ? "_depth" : "", "_t"});
}

Status import_by_qcom(const ImportKind &kind, const std::shared_ptr<const Loader> &loader,
                      cl_mem_ext_host_ptr *host, std::size_t size,
                      const kiln_import_options &options, Memory *out) {
  constexpr cl_uint policies[] = {CL_MEM_HOST_UNCACHED_QCOM, CL_MEM_HOST_WRITEBACK_QCOM,
                                  CL_MEM_HOST_IOCOHERENT_QCOM};
  const Device &device = *loader->device;
  if (options.host_cache == KILN_HOST_CACHE_COHERENT &&
      !device.capabilities.has_extension("cl_qcom_ext_host_ptr_iocoherent")) {
    return Status::error(Code::requirement,
                         "the device has no cl_qcom_ext_host_ptr_iocoherent for coherent memory");
  }
  *host = {kind.qcom_type, policies[options.host_cache]};
  const AccessFlags flags = flags_for(options.access);
  cl_int code = CL_SUCCESS;
  cl_mem made = device.cl->clCreateBuffer(
      loader->context.get(), flags.kernels | CL_MEM_USE_HOST_PTR | CL_MEM_EXT_HOST_PTR_QCOM, size,
      host, &code);
  return take_memory(loader, made, code, "clCreateBuffer with CL_MEM_EXT_HOST_PTR_QCOM", flags.map,
                     out);
}

// clImportMemoryARM, for a device that has an extension of the type in `properties`. Does not set
// the size of `out`.
Status import_by_arm(const std::shared_ptr<const Loader> &loader,
                     const cl_import_properties_arm *properties, void *memory, std::size_t size,
                     const AccessFlags &flags, Memory *out) {
  const Device &device = *loader->device;
  const auto import = extension_function<decltype(&::clImportMemoryARM)>(
      *device.cl, device.platform, "clImportMemoryARM");
  if (import == nullptr) {
    return Status::error(Code::requirement, "the driver has no clImportMemoryARM");
  }
  // The extension's flags are the kernels' alone.
  cl_int code = CL_SUCCESS;
  cl_mem made = import(loader->context.get(), flags.kernels, properties, memory, size, &code);
  return take_memory(loader, made, code, "clImportMemoryARM", flags.map, out);
}

Status import(const ImportKind &kind, const std::shared_ptr<const Loader> &loader,
              const External &memory, std::size_t size, const kiln_import_options &options,
              Memory *out) {
  const Device &device = *loader->device;
  Status e;
  if (device.capabilities.has_extension(kind.arm)) {
    const bool in_step = kind.arm_type == CL_IMPORT_TYPE_DMA_BUF_ARM &&
                         options.host_cache == KILN_HOST_CACHE_WRITEBACK;
    const cl_import_properties_arm properties[] = {
        CL_IMPORT_TYPE_ARM, static_cast<cl_import_properties_arm>(kind.arm_type),
        in_step ? CL_IMPORT_DMA_BUF_DATA_CONSISTENCY_WITH_HOST_ARM : 0, CL_TRUE, 0};
    e = import_by_arm(loader, properties, memory.arm_memory, memory.arm_size,
                      flags_for(options.access), out);
  } else if (device.capabilities.has_extension(kind.qcom)) {
    e = import_by_qcom(kind, loader, memory.qcom, size, options, out);
  } else {
    e = Status::error(Code::requirement, {"the device has neither ", kind.arm, " nor ", kind.qcom});
  }
  if (!e.ok()) return e;
  out->size = size;
  out->zero_copy = true;
  std::size_t bytes = 0;
  const cl_int code =
      device.cl->clGetMemObjectInfo(out->handle.get(), CL_MEM_SIZE, sizeof(bytes), &bytes, nullptr);
  return check_size(kind, code == CL_SUCCESS ? bytes : size, size);
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

}  // namespace

Memory::~Memory() = default;

Status create_buffer(const std::shared_ptr<const Loader> &loader, std::size_t size,
                     kiln_access access, Memory *out) {
  if (size == 0) return Status::error(Code::bad_argument, "a buffer has at least 1 byte");
  const AccessFlags flags = flags_for(access);
  const cl_mem_flags place = place_on(*loader->device);
  cl_int code = CL_SUCCESS;
  cl_mem memory = loader->device->cl->clCreateBuffer(
      loader->context.get(), flags.kernels | flags.host | place, size, nullptr, &code);
  out->size = size;
  out->zero_copy = place != 0;
  return take_memory(loader, memory, code, "clCreateBuffer", flags.map, out);
}

Status buffer_from_host(const std::shared_ptr<const Loader> &loader, void *memory, std::size_t size,
                        kiln_access access, Memory *out) {
  if (reinterpret_cast<std::uintptr_t>(memory) % kHostAlignment != 0 || size == 0 ||
      size % kHostSizeMultiple != 0) {
    return Status::error(
        Code::bad_argument,
        "the memory's address must be a multiple of 4096 and its size of 64 and not 0");
  }
  const AccessFlags flags = flags_for(access);
  out->size = size;
  // Uses the device's own view of the application's memory, if there is one.
  const cl_import_properties_arm properties[] = {CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_HOST_ARM, 0};
  if (loader->device->capabilities.has_extension("cl_arm_import_memory_host") &&
      import_by_arm(loader, properties, memory, size, flags, out).ok()) {
    out->zero_copy = true;
    return {};
  }
  cl_int code = CL_SUCCESS;
  cl_mem made = loader->device->cl->clCreateBuffer(
      loader->context.get(), flags.kernels | flags.host | CL_MEM_USE_HOST_PTR, size, memory, &code);
  out->zero_copy = loader->device->capabilities.unified_memory;
  return take_memory(loader, made, code, "clCreateBuffer", flags.map, out);
}

Status create_image(const std::shared_ptr<const Loader> &loader, std::size_t width,
                    std::size_t height, unsigned channels, kiln_access access, Memory *out) {
  const cl_channel_order orders[] = {0, CL_R, CL_RG, 0, CL_RGBA};
  if (channels > 4 || orders[channels] == 0) {
    return Status::error(Code::bad_argument,
                         {"an image has 1, 2 or 4 channels, not ", decimal(channels)});
  }
  const AccessFlags flags = flags_for(access);
  const cl_image_format format = {orders[channels], CL_UNORM_INT8};
  cl_image_desc description = {};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = width;
  description.image_height = height;
  cl_int code = CL_SUCCESS;
  cl_mem memory = loader->device->cl->clCreateImage(
      loader->context.get(), flags.kernels | flags.host | place_on(*loader->device), &format,
      &description, nullptr, &code);
  out->image = "image2d_t";
  out->width = width;
  out->height = height;
  return take_memory(loader, memory, code, "clCreateImage", flags.map, out);
}

Status memory_from_cl(const std::shared_ptr<const Loader> &loader, cl_mem from, bool is_image,
                      kiln_access access, Memory *out) {
  const OpenCL &cl = *loader->device->cl;
  cl_mem_object_type type = 0;
  cl_context context = nullptr;
  cl_int code = cl.clGetMemObjectInfo(from, CL_MEM_TYPE, sizeof(type), &type, nullptr);
  const auto ask = [&](auto query, cl_uint what, void *value) {
    static_assert(sizeof(context) == sizeof(std::size_t), "all answers are of one size");
    if (code == CL_SUCCESS) code = query(from, what, sizeof(std::size_t), value, nullptr);
  };
  const bool is_known = type >= CL_MEM_OBJECT_BUFFER && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
  if (code == CL_SUCCESS && (!is_known || is_image == (type == CL_MEM_OBJECT_BUFFER))) {
    return Status::error(Code::bad_argument,
                         is_image ? "the cl_mem is not an image" : "the cl_mem is not a buffer");
  }
  ask(cl.clGetMemObjectInfo, CL_MEM_CONTEXT, &context);
  if (code == CL_SUCCESS && context != loader->context.get()) {
    return Status::error(Code::bad_argument, "the cl_mem is of another context");
  }
  ask(cl.clGetMemObjectInfo, CL_MEM_SIZE, &out->size);
  if (is_image) {
    ask(cl.clGetImageInfo, CL_IMAGE_WIDTH, &out->width);
    ask(cl.clGetImageInfo, CL_IMAGE_HEIGHT, &out->height);
    if (code == CL_SUCCESS) out->image = kind_of_image(cl, from, type);
  }
  if (code == CL_SUCCESS) code = cl.clRetainMemObject(from);
  if (code != CL_SUCCESS) return cl_failure("clGetMemObjectInfo or clRetainMemObject", code);
  return take_memory(loader, from, code, "clRetainMemObject", flags_for(access).map, out);
}

Status map(const Queue &queue, cl_bool blocking, const Waits &waits, Memory *memory,
           std::size_t *row_pitch, Handle<cl_event> *event) {
  if (memory->mapped != nullptr) {
    return Status::error(Code::bad_argument, "the memory is mapped already");
  }
  if (row_pitch != nullptr && memory->image != "image2d_t" && memory->image != "image2d_depth_t") {
    return Status::error(Code::bad_argument, {"Kiln maps no ", memory->image});
  }
  const OpenCL &cl = *queue.loader->device->cl;
  const char *call = row_pitch == nullptr ? "clEnqueueMapBuffer" : "clEnqueueMapImage";
  const std::size_t origin[3] = {0, 0, 0};
  const std::size_t region[3] = {memory->width, memory->height, 1};
  cl_int code = CL_SUCCESS;
  cl_event made = nullptr;
  cl_event *wanted = event == nullptr ? nullptr : &made;
  std::size_t pitch = 0;
  void *address = row_pitch == nullptr
                      ? cl.clEnqueueMapBuffer(queue.handle.get(), memory->handle.get(), blocking,
                                              memory->map_flags, 0, memory->size, waits.count,
                                              waits.data(), wanted, &code)
                      : cl.clEnqueueMapImage(queue.handle.get(), memory->handle.get(), blocking,
                                             memory->map_flags, origin, region, &pitch, nullptr,
                                             waits.count, waits.data(), wanted, &code);
  // Counts as mapped even if the event is bad, so that it can be unmapped.
  if (code == CL_SUCCESS) memory->mapped = address;
  Status error = take_event(cl, call, code, made, event);
  if (error.ok() && address == nullptr) error = cl_failure(call, CL_SUCCESS);
  if (error.ok() && row_pitch != nullptr) *row_pitch = pitch;
  return error;
}

Status unmap(const Queue &queue, const Waits &waits, Memory *memory, Handle<cl_event> *event) {
  if (memory->mapped == nullptr)
    return Status::error(Code::bad_argument, "the memory is not mapped");
  const OpenCL &cl = *queue.loader->device->cl;
  cl_event made = nullptr;
  const cl_int code =
      cl.clEnqueueUnmapMemObject(queue.handle.get(), memory->handle.get(), memory->mapped,
                                 waits.count, waits.data(), event == nullptr ? nullptr : &made);
  // Counts as unmapped even if the event is bad: it must not be unmapped twice.
  if (code == CL_SUCCESS) memory->mapped = nullptr;
  return take_event(cl, "clEnqueueUnmapMemObject", code, made, event);
}

Status import_dma_buf(const std::shared_ptr<const Loader> &loader, int fd, std::size_t size,
                      const kiln_import_options &options, Memory *out) {
  if (size == 0) return refuse("a buffer has at least 1 byte");
  std::uint64_t bytes = 0;
  Status e = check_dma_buf(fd, &bytes);
  if (e.ok()) e = check_size(kDmaBuf, bytes, size);
  const Capabilities &device = loader->device->capabilities;
  if (e.ok() && !device.has_extension(kDmaBuf.arm) && device.has_extension(kDmaBuf.qcom)) {
    e = check_mapping(*loader->device, bytes, size, options.mapped);
  }
  if (!e.ok()) return e;
  DmaBufHostPtrQcom host{{}, fd, options.mapped};
  // Arm's driver takes a pointer to the descriptor.
  return import(kDmaBuf, loader, {&fd, size, &host.head}, size, options, out);
}

Status import_hardware_buffer(const std::shared_ptr<const Loader> &loader, void *hardware_buffer,
                              std::size_t size, const kiln_import_options &options, Memory *out) {
  if (size == 0) return refuse("a buffer has at least 1 byte");
  HardwareBufferHostPtrQcom host{{}, hardware_buffer};
  // Arm's extension imports hardware buffers only as a whole.
  return import(kHardwareBuffer, loader,
                {hardware_buffer, CL_IMPORT_MEMORY_WHOLE_ALLOCATION_ARM, &host.head}, size, options,
                out);
}

}  // namespace kiln::runtime

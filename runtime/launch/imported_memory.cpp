// SPDX-License-Identifier: Apache-2.0
// Checks what can be known beforehand, and imports with Arm's extension or Qualcomm's.
#include "runtime/launch/imported_memory.hpp"

#include <cerrno>

#include <unistd.h>
#ifdef __linux__
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#endif

namespace kiln::runtime {
namespace {

// Code::bad_argument if the descriptor is certainly not one of a dma-buf. `*bytes` gets its size,
// or UINT64_MAX where the system does not tell. Asks with flags that no dma-buf takes, so that
// asking does nothing.
packs::Status check_dma_buf(int fd, std::uint64_t *bytes) {
  const auto refuse = [](const char *why) {
    return packs::Status::error(packs::Code::bad_argument, why);
  };
  int error = fd < 0 ? EBADF : 0;
#ifdef __linux__
  // A dma-buf answers EINVAL, and what has no such request ENOTTY. A policy may forbid to ask.
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
  char what[20];  // for people
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

// What both extensions are given of one memory.
struct External {
  void *arm_memory;
  std::size_t arm_size;
  cl_mem_ext_host_ptr *qcom;  // the head of a larger struct; filled in here
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

// What Qualcomm's device asks of a dma-buf of `bytes` bytes and of where it is mapped.
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
  // Arm's driver is given the place of the descriptor.
  return import(kDmaBuf, loader, {&fd, size, &host.head}, size, options, out);
}

Status import_hardware_buffer(const std::shared_ptr<const Loader> &loader, void *hardware_buffer,
                              std::size_t size, const kiln_import_options &options, Memory *out) {
  if (size == 0) return refuse("a buffer has at least 1 byte");
  HardwareBufferHostPtrQcom host{{}, hardware_buffer};
  // Of hardware buffers Arm's extension takes the whole alone.
  return import(kHardwareBuffer, loader,
                {hardware_buffer, CL_IMPORT_MEMORY_WHOLE_ALLOCATION_ARM, &host.head}, size, options,
                out);
}

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// Chooses flags by who accesses the memory and by whether the device shares memory with the host.
#include "runtime/launch/memory.hpp"

#include <iterator>

namespace kiln::runtime {

namespace {

// Returns the flag for host memory, if mapping host memory then needs no copy.
cl_mem_flags place_on(const Device &device) {
  return device.capabilities.unified_memory ? cl_mem_flags{CL_MEM_ALLOC_HOST_PTR} : 0;
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

}  // namespace

Memory::~Memory() = default;

AccessFlags flags_for(kiln_access access) {
  switch (access) {
    case KILN_ACCESS_READ:
      return {CL_MEM_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MAP_WRITE_INVALIDATE_REGION};
    case KILN_ACCESS_WRITE: return {CL_MEM_WRITE_ONLY, CL_MEM_HOST_READ_ONLY, CL_MAP_READ};
    case KILN_ACCESS_BOTH: break;
  }
  return {CL_MEM_READ_WRITE, 0, CL_MAP_READ | CL_MAP_WRITE};
}

Status take_memory(const std::shared_ptr<const Loader> &loader, cl_mem made, cl_int code,
                   const char *call, cl_map_flags map_flags, Memory *out) {
  Handle<cl_mem> owned(made, loader->device->cl->clReleaseMemObject);
  if (!owned || code != CL_SUCCESS) return cl_failure(call, code);
  out->loader = loader;
  out->handle = std::move(owned);
  out->map_flags = map_flags;
  return {};
}

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

Status order_of(unsigned channels, cl_channel_order *out) {
  constexpr cl_channel_order orders[] = {0, CL_R, CL_RG, 0, CL_RGBA};
  *out = channels < std::size(orders) ? orders[channels] : 0;
  if (*out != 0) return {};
  return Status::error(Code::bad_argument,
                       {"an image has 1, 2 or 4 channels, not ", decimal(channels)});
}

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
  cl_image_format format = {0, CL_UNORM_INT8};
  if (Status e = order_of(channels, &format.image_channel_order); !e.ok()) return e;
  const AccessFlags flags = flags_for(access);
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

}  // namespace kiln::runtime

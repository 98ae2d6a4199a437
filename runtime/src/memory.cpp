#include "memory.hpp"

namespace kiln::runtime {
namespace {

struct Flags {
  cl_mem_flags kernels;
  cl_mem_flags host;
  cl_map_flags map;
};

// The tightest flags for each side.
Flags flags_for(kiln_access access) {
  switch (access) {
    case KILN_ACCESS_READ:
      return {CL_MEM_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MAP_WRITE_INVALIDATE_REGION};
    case KILN_ACCESS_WRITE: return {CL_MEM_WRITE_ONLY, CL_MEM_HOST_READ_ONLY, CL_MAP_READ};
    case KILN_ACCESS_BOTH: break;
  }
  return {CL_MEM_READ_WRITE, 0, CL_MAP_READ | CL_MAP_WRITE};
}

// Host memory where mapping it then costs no copy.
cl_mem_flags place_on(const Device &device) {
  return device.capabilities.unified_memory ? cl_mem_flags{CL_MEM_ALLOC_HOST_PTR} : 0;
}

// `made` is released where the driver handed it out together with an error.
Error take(const std::shared_ptr<const Loader> &loader, Handle<cl_mem> made, cl_int code,
           const char *call, cl_map_flags map_flags, Memory *out) {
  if (!made || code != CL_SUCCESS) return cl_failure(call, code);
  out->loader = loader;
  out->handle = std::move(made);
  out->map_flags = map_flags;
  return {};
}

Handle<cl_mem> own(const Loader &loader, cl_mem memory) {
  return {memory, loader.device->cl->clReleaseMemObject};
}

// The device's own view of the application's memory, if there is one. The extension's flags are
// the kernels' alone.
Handle<cl_mem> import_from_host(const Loader &loader, void *memory, std::size_t size,
                                cl_mem_flags flags) {
  const Device &device = *loader.device;
  if (!device.capabilities.has_extension("cl_arm_import_memory_host")) return {};
  const auto import = extension_function<decltype(&::clImportMemoryARM)>(
      *device.cl, device.platform, "clImportMemoryARM");
  if (import == nullptr) return {};
  const cl_import_properties_arm properties[] = {CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_HOST_ARM, 0};
  cl_int code = CL_SUCCESS;
  Handle<cl_mem> made(import(loader.context.get(), flags, properties, memory, size, &code),
                      device.cl->clReleaseMemObject);
  return code == CL_SUCCESS ? std::move(made) : Handle<cl_mem>();
}

template <typename T, typename Query>
Error ask(Query query, cl_mem memory, cl_uint what, T *out) {
  const cl_int code = query(memory, what, sizeof(T), out, nullptr);
  return code == CL_SUCCESS ? Error{} : cl_failure("clGetMemObjectInfo", code);
}

Error already_mapped() { return failure(KILN_ERROR_ARGUMENT, "the memory is mapped already"); }

// A map must give an address, and an event if one is wanted.
Error take_mapping(const Queue &queue, const char *call, cl_int code, cl_event event, void *address,
                   const MapRequest &request, Memory *memory) {
  Error error = take_event(*queue.loader->device->cl, call, code, event, request.event);
  if (error.ok() && address == nullptr) error = cl_failure(call, CL_SUCCESS);
  if (error.ok()) memory->mapped = address;
  return error;
}

}  // namespace

Error create_buffer(const std::shared_ptr<const Loader> &loader, std::size_t size,
                    kiln_access access, Memory *out) {
  if (size == 0) return failure(KILN_ERROR_ARGUMENT, "a buffer has at least 1 byte");
  const Flags flags = flags_for(access);
  const cl_mem_flags place = place_on(*loader->device);
  cl_int code = CL_SUCCESS;
  cl_mem memory = loader->device->cl->clCreateBuffer(
      loader->context.get(), flags.kernels | flags.host | place, size, nullptr, &code);
  out->size = size;
  out->zero_copy = place != 0;
  return take(loader, own(*loader, memory), code, "clCreateBuffer", flags.map, out);
}

Error buffer_from_host(const std::shared_ptr<const Loader> &loader, void *memory, std::size_t size,
                       kiln_access access, Memory *out) {
  if (reinterpret_cast<std::uintptr_t>(memory) % kHostAlignment != 0 || size == 0 ||
      size % kHostSizeMultiple != 0) {
    return failure(KILN_ERROR_ARGUMENT,
                   "the memory's address must be a multiple of 4096 and its size of 64 and not 0");
  }
  const Flags flags = flags_for(access);
  out->size = size;
  if (Handle<cl_mem> imported = import_from_host(*loader, memory, size, flags.kernels)) {
    out->zero_copy = true;
    return take(loader, std::move(imported), CL_SUCCESS, "clImportMemoryARM", flags.map, out);
  }
  cl_int code = CL_SUCCESS;
  cl_mem made = loader->device->cl->clCreateBuffer(
      loader->context.get(), flags.kernels | flags.host | CL_MEM_USE_HOST_PTR, size, memory, &code);
  out->zero_copy = loader->device->capabilities.unified_memory;
  return take(loader, own(*loader, made), code, "clCreateBuffer", flags.map, out);
}

Error create_image(const std::shared_ptr<const Loader> &loader, std::size_t width,
                   std::size_t height, unsigned channels, kiln_access access, Memory *out) {
  const cl_channel_order orders[] = {0, CL_R, CL_RG, 0, CL_RGBA};
  if (channels > 4 || orders[channels] == 0) {
    return failure(KILN_ERROR_ARGUMENT,
                   "an image has 1, 2 or 4 channels, not " + std::to_string(channels));
  }
  const Flags flags = flags_for(access);
  const cl_image_format format = {orders[channels], CL_UNORM_INT8};
  cl_image_desc description = {};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = width;
  description.image_height = height;
  cl_int code = CL_SUCCESS;
  cl_mem memory = loader->device->cl->clCreateImage(
      loader->context.get(), flags.kernels | flags.host | place_on(*loader->device), &format,
      &description, nullptr, &code);
  out->width = width;
  out->height = height;
  return take(loader, own(*loader, memory), code, "clCreateImage", flags.map, out);
}

Error memory_from_cl(const std::shared_ptr<const Loader> &loader, cl_mem from,
                     cl_mem_object_type type, kiln_access access, Memory *out) {
  const OpenCL &cl = *loader->device->cl;
  const bool is_buffer = type == CL_MEM_OBJECT_BUFFER;
  cl_mem_object_type is_type = 0;
  cl_context context = nullptr;
  Error error = ask(cl.clGetMemObjectInfo, from, CL_MEM_TYPE, &is_type);
  if (error.ok() && is_type != type) {
    return failure(KILN_ERROR_ARGUMENT,
                   is_buffer ? "the cl_mem is not a buffer" : "the cl_mem is not a 2D image");
  }
  if (error.ok()) error = ask(cl.clGetMemObjectInfo, from, CL_MEM_CONTEXT, &context);
  if (error.ok() && context != loader->context.get()) {
    return failure(KILN_ERROR_ARGUMENT, "the cl_mem is of another context");
  }
  if (error.ok() && is_buffer) error = ask(cl.clGetMemObjectInfo, from, CL_MEM_SIZE, &out->size);
  if (error.ok() && !is_buffer) error = ask(cl.clGetImageInfo, from, CL_IMAGE_WIDTH, &out->width);
  if (error.ok() && !is_buffer) error = ask(cl.clGetImageInfo, from, CL_IMAGE_HEIGHT, &out->height);
  if (!error.ok()) return error;
  const cl_int code = cl.clRetainMemObject(from);
  if (code != CL_SUCCESS) return cl_failure("clRetainMemObject", code);
  return take(loader, own(*loader, from), code, "clRetainMemObject", flags_for(access).map, out);
}

Error map_buffer(const Queue &queue, const MapRequest &request, Memory *memory) {
  if (memory->mapped != nullptr) return already_mapped();
  cl_int code = CL_SUCCESS;
  cl_event event = nullptr;
  void *address = queue.loader->device->cl->clEnqueueMapBuffer(
      queue.handle.get(), memory->handle.get(), request.blocking, memory->map_flags, 0,
      memory->size, request.wait_count, request.wait, request.event == nullptr ? nullptr : &event,
      &code);
  return take_mapping(queue, "clEnqueueMapBuffer", code, event, address, request, memory);
}

Error map_image(const Queue &queue, const MapRequest &request, Memory *memory,
                std::size_t *row_pitch) {
  if (memory->mapped != nullptr) return already_mapped();
  const std::size_t origin[3] = {0, 0, 0};
  const std::size_t region[3] = {memory->width, memory->height, 1};
  cl_int code = CL_SUCCESS;
  cl_event event = nullptr;
  std::size_t pitch = 0;
  void *address = queue.loader->device->cl->clEnqueueMapImage(
      queue.handle.get(), memory->handle.get(), request.blocking, memory->map_flags, origin, region,
      &pitch, nullptr, request.wait_count, request.wait,
      request.event == nullptr ? nullptr : &event, &code);
  Error e = take_mapping(queue, "clEnqueueMapImage", code, event, address, request, memory);
  if (e.ok()) *row_pitch = pitch;
  return e;
}

Error unmap(const Queue &queue, const MapRequest &request, Memory *memory) {
  if (memory->mapped == nullptr) return failure(KILN_ERROR_ARGUMENT, "the memory is not mapped");
  cl_event event = nullptr;
  const cl_int code = queue.loader->device->cl->clEnqueueUnmapMemObject(
      queue.handle.get(), memory->handle.get(), memory->mapped, request.wait_count, request.wait,
      request.event == nullptr ? nullptr : &event);
  // Unmapped whatever becomes of the event: a second unmap would be one too many.
  if (code == CL_SUCCESS) memory->mapped = nullptr;
  return take_event(*queue.loader->device->cl, "clEnqueueUnmapMemObject", code, event,
                    request.event);
}

}  // namespace kiln::runtime

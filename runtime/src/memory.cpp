#include "launch.hpp"

namespace kiln::runtime {
namespace {

struct Flags {
  cl_mem_flags memory;
  cl_map_flags map;
};

// The tightest flags for each side; host memory where mapping it then costs no copy.
Flags flags_for(kiln_access access, const Device &device) {
  const cl_mem_flags place =
      device.capabilities.unified_memory ? cl_mem_flags{CL_MEM_ALLOC_HOST_PTR} : cl_mem_flags{0};
  switch (access) {
    case KILN_ACCESS_READ:
      return {place | CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, CL_MAP_WRITE_INVALIDATE_REGION};
    case KILN_ACCESS_WRITE: return {place | CL_MEM_WRITE_ONLY | CL_MEM_HOST_READ_ONLY, CL_MAP_READ};
    case KILN_ACCESS_BOTH: break;
  }
  return {place | CL_MEM_READ_WRITE, CL_MAP_READ | CL_MAP_WRITE};
}

Error take(const std::shared_ptr<const Loader> &loader, cl_mem memory, cl_int code,
           const char *call, cl_map_flags map_flags, Memory *out) {
  if (memory == nullptr || code != CL_SUCCESS) return cl_failure(call, code);
  out->loader = loader;
  out->handle = Handle<cl_mem>(memory, loader->device->cl->clReleaseMemObject);
  out->map_flags = map_flags;
  return {};
}

Error already_mapped() { return failure(KILN_ERROR_ARGUMENT, "the memory is mapped already"); }

}  // namespace

Error create_buffer(const std::shared_ptr<const Loader> &loader, std::size_t size,
                    kiln_access access, Memory *out) {
  const Flags flags = flags_for(access, *loader->device);
  cl_int code = CL_SUCCESS;
  cl_mem memory =
      loader->device->cl->clCreateBuffer(loader->context.get(), flags.memory, size, nullptr, &code);
  out->size = size;
  return take(loader, memory, code, "clCreateBuffer", flags.map, out);
}

Error create_image(const std::shared_ptr<const Loader> &loader, std::size_t width,
                   std::size_t height, unsigned channels, kiln_access access, Memory *out) {
  const cl_channel_order orders[] = {0, CL_R, CL_RG, 0, CL_RGBA};
  if (channels > 4 || orders[channels] == 0) {
    return failure(KILN_ERROR_ARGUMENT,
                   "an image has 1, 2 or 4 channels, not " + std::to_string(channels));
  }
  const Flags flags = flags_for(access, *loader->device);
  const cl_image_format format = {orders[channels], CL_UNORM_INT8};
  cl_image_desc description = {};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = width;
  description.image_height = height;
  cl_int code = CL_SUCCESS;
  cl_mem memory = loader->device->cl->clCreateImage(loader->context.get(), flags.memory, &format,
                                                    &description, nullptr, &code);
  out->width = width;
  out->height = height;
  return take(loader, memory, code, "clCreateImage", flags.map, out);
}

Error map_buffer(const Queue &queue, Memory *memory) {
  if (memory->mapped != nullptr) return already_mapped();
  cl_int code = CL_SUCCESS;
  void *address = queue.loader->device->cl->clEnqueueMapBuffer(
      queue.handle.get(), memory->handle.get(), CL_TRUE, memory->map_flags, 0, memory->size, 0,
      nullptr, nullptr, &code);
  if (address == nullptr || code != CL_SUCCESS) return cl_failure("clEnqueueMapBuffer", code);
  memory->mapped = address;
  return {};
}

Error map_image(const Queue &queue, Memory *memory, std::size_t *row_pitch) {
  if (memory->mapped != nullptr) return already_mapped();
  const std::size_t origin[3] = {0, 0, 0};
  const std::size_t region[3] = {memory->width, memory->height, 1};
  cl_int code = CL_SUCCESS;
  std::size_t pitch = 0;
  void *address = queue.loader->device->cl->clEnqueueMapImage(
      queue.handle.get(), memory->handle.get(), CL_TRUE, memory->map_flags, origin, region, &pitch,
      nullptr, 0, nullptr, nullptr, &code);
  if (address == nullptr || code != CL_SUCCESS) return cl_failure("clEnqueueMapImage", code);
  memory->mapped = address;
  *row_pitch = pitch;
  return {};
}

Error unmap(const Queue &queue, Memory *memory) {
  if (memory->mapped == nullptr) return failure(KILN_ERROR_ARGUMENT, "the memory is not mapped");
  const cl_int code = queue.loader->device->cl->clEnqueueUnmapMemObject(
      queue.handle.get(), memory->handle.get(), memory->mapped, 0, nullptr, nullptr);
  if (code != CL_SUCCESS) return cl_failure("clEnqueueUnmapMemObject", code);
  memory->mapped = nullptr;
  return {};
}

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// Calls OpenCL to make images and samplers, and to map images of any kind as rows.
#include "builder/run/argument_objects.hpp"

#include <algorithm>

#include "runtime/opencl/error.hpp"

namespace kiln::builder {

namespace {

cl_channel_type channel_type(const Memory &memory) {
  const bool is_normalized = memory.is_normalized;
  switch (memory.type) {
    case Type::uchar_: return is_normalized ? CL_UNORM_INT8 : CL_UNSIGNED_INT8;
    case Type::ushort_: return is_normalized ? CL_UNORM_INT16 : CL_UNSIGNED_INT16;
    case Type::char_: return is_normalized ? CL_SNORM_INT8 : CL_SIGNED_INT8;
    case Type::short_: return is_normalized ? CL_SNORM_INT16 : CL_SIGNED_INT16;
    case Type::uint_: return CL_UNSIGNED_INT32;
    case Type::int_: return CL_SIGNED_INT32;
    case Type::half_: return CL_HALF_FLOAT;
    case Type::float_:
    case Type::long_:
    case Type::ulong_:
    case Type::double_: break;  // no image has the last three
  }
  return CL_FLOAT;
}

}  // namespace

cl_image_format image_format(const Memory &memory) {
  const cl_channel_order order = memory.channels == 1   ? CL_R
                                 : memory.channels == 2 ? CL_RG
                                                        : CL_RGBA;
  return {order, channel_type(memory)};
}

cl_image_desc image_desc(const Memory &memory) {
  cl_image_desc desc{};
  desc.image_width = memory.columns;
  const std::size_t height = memory.rows / memory.slices;
  switch (memory.storage) {
    case Storage::buffer:
    case Storage::local: break;
    case Storage::image:
      desc.image_type = CL_MEM_OBJECT_IMAGE2D;
      desc.image_height = height;
      break;
    case Storage::image1d: desc.image_type = CL_MEM_OBJECT_IMAGE1D; break;
    case Storage::image1d_buffer: desc.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER; break;
    case Storage::image1d_array:
      desc.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY;
      desc.image_array_size = memory.slices;
      break;
    case Storage::image2d_array:
      desc.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY;
      desc.image_height = height;
      desc.image_array_size = memory.slices;
      break;
    case Storage::image3d:
      desc.image_type = CL_MEM_OBJECT_IMAGE3D;
      desc.image_height = height;
      desc.image_depth = memory.slices;
  }
  return desc;
}

Status make_image(const runtime::OpenCL &cl, cl_context context, const cl_image_format &format,
                  cl_image_desc desc, std::size_t bytes, MemoryObject *out) {
  cl_int code = CL_SUCCESS;
  if (desc.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
    out->pixels = {cl.clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code),
                   cl.clReleaseMemObject};
    if (code != CL_SUCCESS) return runtime::cl_failure("clCreateBuffer", code);
    desc.mem_object = out->pixels.get();
  }
  out->object = {cl.clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, nullptr, &code),
                 cl.clReleaseMemObject};
  return code == CL_SUCCESS ? Status() : runtime::cl_failure("clCreateImage", code);
}

namespace {

Status with_pixels(const runtime::OpenCL &cl, cl_command_queue queue, cl_mem pixels,
                   cl_map_flags how, const std::function<void(const MappedRows &)> &use) {
  std::size_t size = 0;
  cl_int code = cl.clGetMemObjectInfo(pixels, CL_MEM_SIZE, sizeof(size), &size, nullptr);
  if (code != CL_SUCCESS) return runtime::cl_failure("clGetMemObjectInfo", code);
  void *mapped =
      cl.clEnqueueMapBuffer(queue, pixels, CL_TRUE, how, 0, size, 0, nullptr, nullptr, &code);
  if (code != CL_SUCCESS) return runtime::cl_failure("clEnqueueMapBuffer", code);
  use({static_cast<std::uint8_t *>(mapped)});
  code = cl.clEnqueueUnmapMemObject(queue, pixels, mapped, 0, nullptr, nullptr);
  return code == CL_SUCCESS ? Status() : runtime::cl_failure("clEnqueueUnmapMemObject", code);
}

}  // namespace

Status with_image(const runtime::OpenCL &cl, cl_command_queue queue, cl_mem image, cl_mem pixels,
                  const cl_image_desc &desc, cl_map_flags how,
                  const std::function<void(const MappedRows &)> &use) {
  if (pixels != nullptr) return with_pixels(cl, queue, pixels, how, use);
  const std::size_t origin[3] = {0, 0, 0};
  std::size_t region[3] = {desc.image_width, std::max<std::size_t>(desc.image_height, 1),
                           std::max<std::size_t>(desc.image_depth, 1)};
  const bool lines = desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  if (lines) region[1] = desc.image_array_size;
  if (desc.image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY) region[2] = desc.image_array_size;
  MappedRows rows;
  cl_int code = CL_SUCCESS;
  rows.address = static_cast<std::uint8_t *>(
      cl.clEnqueueMapImage(queue, image, CL_TRUE, how, origin, region, &rows.pitch,
                           &rows.slice_pitch, 0, nullptr, nullptr, &code));
  if (code != CL_SUCCESS) return runtime::cl_failure("clEnqueueMapImage", code);
  rows.count = region[1] * region[2];
  rows.rows_of_slice = lines ? 1 : region[1];  // each line of such an array is a slice
  use(rows);
  code = cl.clEnqueueUnmapMemObject(queue, image, rows.address, 0, nullptr, nullptr);
  return code == CL_SUCCESS ? Status() : runtime::cl_failure("clEnqueueUnmapMemObject", code);
}

Status make_sampler(const runtime::OpenCL &cl, cl_context context, bool normalized,
                    cl_addressing_mode addressing, cl_filter_mode filter,
                    runtime::Handle<cl_sampler> *out) {
  if (cl.clCreateSampler == nullptr || cl.clReleaseSampler == nullptr) {
    return {Code::requirement, "the OpenCL library has no clCreateSampler"};
  }
  cl_int code = CL_SUCCESS;
  *out = {cl.clCreateSampler(context, normalized ? CL_TRUE : CL_FALSE, addressing, filter, &code),
          cl.clReleaseSampler};
  return code == CL_SUCCESS ? Status() : runtime::cl_failure("clCreateSampler", code);
}

Status make_sampler(const runtime::OpenCL &cl, cl_context context,
                    const packs::ArgumentSampler &sampler, runtime::Handle<cl_sampler> *out) {
  return make_sampler(cl, context, sampler.normalized, CL_ADDRESS_NONE + sampler.addressing,
                      CL_FILTER_NEAREST + sampler.filter, out);
}

}  // namespace kiln::builder

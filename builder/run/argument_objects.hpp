// SPDX-License-Identifier: Apache-2.0
// Objects of OpenCL that a kernel takes as arguments: images of every kind, and samplers.
#pragma once

#include <cstdint>
#include <functional>

#include "builder/base/builder_status.hpp"
#include "builder/run/workload.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::builder {

// A memory object, and the buffer that holds the pixels of a 1D image of a buffer, else null.
struct MemoryObject {
  runtime::Handle<cl_mem> pixels{};
  runtime::Handle<cl_mem> object{};
};

// Returns the OpenCL format of an image's memory.
cl_image_format image_format(const Memory &memory);

// Returns the OpenCL shape of an image's memory.
cl_image_desc image_desc(const Memory &memory);

// Creates an image that kernels read and write. `bytes` is the size of the buffer below a 1D image
// of a buffer. Fails with Code::opencl.
Status make_image(const runtime::OpenCL &cl, cl_context context, const cl_image_format &format,
                  cl_image_desc desc, std::size_t bytes, MemoryObject *out);

// A mapped image. Its rows are those of all its slices or layers, one after the other.
struct MappedRows {
  std::uint8_t *address = nullptr;
  std::size_t pitch = 0;  // bytes from row to row
  std::size_t count = 1;
  std::size_t rows_of_slice = 1;
  std::size_t slice_pitch = 0;  // bytes from slice to slice

  std::uint8_t *row(std::size_t index) const {
    return address + index / rows_of_slice * slice_pitch + index % rows_of_slice * pitch;
  }
};

// Maps the whole image, waits, calls `use`, and unmaps it. `pixels` is the buffer below a 1D image
// of a buffer and is mapped in its place: rusticl of Mesa 22.3 maps other memory for such an image.
// It is null for other images. Fails with Code::opencl.
Status with_image(const runtime::OpenCL &cl, cl_command_queue queue, cl_mem image, cl_mem pixels,
                  const cl_image_desc &desc, cl_map_flags how,
                  const std::function<void(const MappedRows &)> &use);

// Creates a sampler; addressing and filter are OpenCL's numbers. Fails with Code::opencl, or with
// Code::requirement if the OpenCL library makes no samplers.
Status make_sampler(const runtime::OpenCL &cl, cl_context context, bool normalized,
                    cl_addressing_mode addressing, cl_filter_mode filter,
                    runtime::Handle<cl_sampler> *out);
Status make_sampler(const runtime::OpenCL &cl, cl_context context,
                    const packs::ArgumentSampler &sampler, runtime::Handle<cl_sampler> *out);

}  // namespace kiln::builder

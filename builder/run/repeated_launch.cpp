// SPDX-License-Identifier: Apache-2.0
// Makes memory and arguments for a recorded launch, fills the memory and reads it.
#include "builder/run/repeated_launch.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "builder/run/argument_objects.hpp"
#include "kiln/packs/bytes.hpp"
#include "runtime/opencl/error.hpp"

namespace kiln::builder {
namespace {

using runtime::Device;
using runtime::Handle;
using ArgumentKind = RecordedArgument::Kind;

constexpr std::uint64_t kMaxMemory = 1ull << 30;

Status call_failure(const char *call, cl_int code) { return runtime::cl_failure(call, code); }

// Returns a number for the place: from 0.5 to 1 as a float, from 0.5 to 1 as a half in its low
// bytes, and from 1.75 to 1.88 as a half in its high bytes.
std::uint32_t pattern_at(std::uint64_t place) {
  std::uint64_t mixed = (place + 1) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
  mixed ^= mixed >> 31;
  return 0x3f003800u | (static_cast<std::uint32_t>(mixed) & 0x007f03ffu);
}

void fill_pattern(std::uint64_t *place, std::uint8_t *bytes, std::size_t size) {
  for (std::size_t at = 0; at < size; at += sizeof(std::uint32_t)) {
    const std::uint32_t word = pattern_at((*place)++);
    std::memcpy(bytes + at, &word, std::min(sizeof(word), size - at));
  }
}

std::array<std::uint64_t, 2> device_times(const runtime::OpenCL &cl, cl_event event) {
  std::array<std::uint64_t, 2> times{};
  const bool known = cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(times[0]),
                                                &times[0], nullptr) == CL_SUCCESS &&
                     cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(times[1]),
                                                &times[1], nullptr) == CL_SUCCESS;
  return known ? times : std::array<std::uint64_t, 2>{};
}

cl_image_desc desc_of(const RecordedImage &image) {
  cl_image_desc desc{};
  desc.image_type = image.type;
  desc.image_width = image.width;
  desc.image_height = image.height;
  desc.image_depth = image.depth;
  desc.image_array_size = image.layers;
  return desc;
}

}  // namespace

Status RepeatedLaunch::prepare(cl_program program, const RecordedLaunch &launch) {
  dimensions_ = launch.dimensions;
  global_ = launch.global;
  offset_ = launch.offset;
  cl_int code = CL_SUCCESS;
  kernel_ = {cl_.clCreateKernel(program, launch.kernel.c_str(), &code), cl_.clReleaseKernel};
  if (code != CL_SUCCESS) return call_failure("clCreateKernel", code);
  for (cl_uint i = 0; i < launch.arguments.size(); ++i) {
    if (Status s = set(i, launch.arguments[i]); !s.ok()) return s;
  }
  // A driver's work when memory is first used must not count as part of the first launch.
  code = cl_.clFinish(queue_);
  return code == CL_SUCCESS ? Status() : call_failure("clFinish", code);
}

Status RepeatedLaunch::fill(MemoryContent content) {
  std::uint64_t place = 0;
  for (const Held &held : held_) {
    Status s = see(held, CL_MAP_WRITE, [&](std::uint8_t *bytes, std::size_t size) {
      if (content == MemoryContent::zeros) {
        std::memset(bytes, 0, size);
      } else {
        fill_pattern(&place, bytes, size);
      }
    });
    if (!s.ok()) return s;
  }
  return {};
}

Status RepeatedLaunch::launch(const runtime::NDSize &local, RepeatTimes *out) {
  const auto start = std::chrono::steady_clock::now();
  cl_event made = nullptr;
  cl_int code =
      cl_.clEnqueueNDRangeKernel(queue_, kernel_.get(), dimensions_, offset_.data(), global_.data(),
                                 local[0] != 0 ? local.data() : nullptr, 0, nullptr, &made);
  if (code != CL_SUCCESS) return call_failure("clEnqueueNDRangeKernel", code);
  const Handle<cl_event> event(made, cl_.clReleaseEvent);
  code = cl_.clFinish(queue_);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  *out = {took.count(), device_times(cl_, made)};
  return code == CL_SUCCESS ? Status() : call_failure("clFinish", code);
}

Status RepeatedLaunch::hash(std::uint64_t *out) {
  std::vector<std::uint64_t> hashes;
  for (const Held &held : held_) {
    Status s = see(held, CL_MAP_READ, [&](const std::uint8_t *bytes, std::size_t size) {
      hashes.push_back(packs::xxh3(bytes, size));
    });
    if (!s.ok()) return s;
  }
  *out = packs::xxh3(hashes.data(), hashes.size() * sizeof(hashes[0]));
  return {};
}

Status RepeatedLaunch::set(cl_uint index, const RecordedArgument &argument) {
  switch (argument.kind) {
    case ArgumentKind::value: return set(index, argument.value.size(), argument.value.data());
    case ArgumentKind::local: return set(index, argument.size, nullptr);
    case ArgumentKind::buffer:
      return argument.size == 0 ? set(index, sizeof(cl_mem), nullptr) : set_buffer(index, argument);
    case ArgumentKind::image: return set_image(index, argument.image);
    case ArgumentKind::sampler: return set_sampler(index, argument.sampler);
    default: break;
  }
  return {Code::requirement,
          fmt::format("argument {} of a launch was not recorded: {}", index, argument.what)};
}

Status RepeatedLaunch::set(cl_uint index, std::size_t size, const void *value) {
  const cl_int code = cl_.clSetKernelArg(kernel_.get(), index, size, value);
  return code == CL_SUCCESS ? Status() : call_failure("clSetKernelArg", code);
}

Status RepeatedLaunch::set_memory(cl_uint index, Held held) {
  const cl_mem made = held.memory.get();
  held_.push_back(std::move(held));
  return set(index, sizeof(made), &made);
}

Status RepeatedLaunch::take_room(std::uint64_t bytes) {
  if (bytes > kMaxMemory - taken_) return {Code::over_limit, "a launch takes over 1 GiB"};
  taken_ += bytes;
  return {};
}

Status RepeatedLaunch::set_buffer(cl_uint index, const RecordedArgument &argument) {
  if (Status s = take_room(argument.size); !s.ok()) return s;
  cl_int code = CL_SUCCESS;
  const cl_mem made =
      cl_.clCreateBuffer(context_, CL_MEM_READ_WRITE, argument.size, nullptr, &code);
  if (code != CL_SUCCESS) return call_failure("clCreateBuffer", code);
  const std::uint8_t zero = 0;
  code = cl_.clEnqueueFillBuffer(queue_, made, &zero, sizeof(zero), 0, argument.size, 0, nullptr,
                                 nullptr);
  Status status = set_memory(index, {{}, {made, cl_.clReleaseMemObject}, argument.size, {}});
  return code == CL_SUCCESS ? status : call_failure("clEnqueueFillBuffer", code);
}

Status RepeatedLaunch::set_image(cl_uint index, const RecordedImage &image) {
  constexpr std::uint64_t kLargestPixel = 16;
  std::uint64_t bytes = kLargestPixel;
  for (const std::uint64_t side : {image.width, image.height, image.depth, image.layers}) {
    if (side > kMaxMemory / bytes) bytes = kMaxMemory + 1;
    if (side != 0 && bytes <= kMaxMemory) bytes *= side;
  }
  if (Status s = take_room(bytes); !s.ok()) return s;
  MemoryObject made;
  Status status =
      make_image(cl_, context_, {image.order, image.data_type}, desc_of(image), bytes, &made);
  if (!status.ok()) return status;
  status = set_memory(index, {std::move(made.pixels), std::move(made.object), 0, image});
  if (!status.ok()) return status;
  return see(held_.back(), CL_MAP_WRITE,
             [](std::uint8_t *row, std::size_t size) { std::memset(row, 0, size); });
}

Status RepeatedLaunch::set_sampler(cl_uint index, const RecordedSampler &sampler) {
  Status status = make_sampler(cl_, context_, sampler.normalized, sampler.addressing,
                               sampler.filter, &samplers_.emplace_back());
  if (!status.ok()) return status;
  const cl_sampler made = samplers_.back().get();
  return set(index, sizeof(made), &made);
}

Status RepeatedLaunch::see(const Held &held, cl_map_flags how, const SeeBytes &see) {
  return held.image.type == 0 ? see_buffer(held, how, see) : see_image(held, how, see);
}

Status RepeatedLaunch::see_buffer(const Held &held, cl_map_flags how, const SeeBytes &see) {
  cl_int code = CL_SUCCESS;
  void *bytes = cl_.clEnqueueMapBuffer(queue_, held.memory.get(), CL_TRUE, how, 0, held.size, 0,
                                       nullptr, nullptr, &code);
  if (code != CL_SUCCESS) return call_failure("clEnqueueMapBuffer", code);
  see(static_cast<std::uint8_t *>(bytes), held.size);
  code = cl_.clEnqueueUnmapMemObject(queue_, held.memory.get(), bytes, 0, nullptr, nullptr);
  return code == CL_SUCCESS ? Status() : call_failure("clEnqueueUnmapMemObject", code);
}

Status RepeatedLaunch::see_image(const Held &held, cl_map_flags how, const SeeBytes &see) {
  std::size_t pixel = 0;
  cl_.clGetImageInfo(held.memory.get(), CL_IMAGE_ELEMENT_SIZE, sizeof(pixel), &pixel, nullptr);
  return with_image(cl_, queue_, held.memory.get(), held.pixels.get(), desc_of(held.image), how,
                    [&](const MappedRows &rows) {
                      for (std::size_t i = 0; i < rows.count; ++i) {
                        see(rows.row(i), pixel * held.image.width);
                      }
                    });
}

Comparison compare_memory(const std::vector<std::uint64_t> &got,
                          const std::vector<std::uint64_t> &expected) {
  Comparison result;
  if (expected.empty()) return result;
  result.check = got.size() == expected.size() ? Check::exact : Check::wrong;
  for (std::size_t i = 0; i < got.size() && i < expected.size(); ++i) {
    if (got[i] == expected[i]) continue;
    if (result.different++ == 0) result.first_wrong = i;
    result.check = Check::wrong;
  }
  return result;
}

Status ask_executes(const Device &device, cl_context context, cl_command_queue queue, bool *out) {
  const runtime::OpenCL &cl = *device.cl;
  std::array<std::uint32_t, 16> before{};
  const std::uint32_t pattern = 0x5a5a5a5a;
  cl_int code = CL_SUCCESS;
  const Handle<cl_mem> buffer(cl.clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                                sizeof(before), before.data(), &code),
                              cl.clReleaseMemObject);
  if (code != CL_SUCCESS) return call_failure("clCreateBuffer", code);
  code = cl.clEnqueueFillBuffer(queue, buffer.get(), &pattern, sizeof(pattern), 0, sizeof(before),
                                0, nullptr, nullptr);
  if (code != CL_SUCCESS) return call_failure("clEnqueueFillBuffer", code);
  const auto *after = static_cast<const std::uint32_t *>(cl.clEnqueueMapBuffer(
      queue, buffer.get(), CL_TRUE, CL_MAP_READ, 0, sizeof(before), 0, nullptr, nullptr, &code));
  if (code != CL_SUCCESS) return call_failure("clEnqueueMapBuffer", code);
  *out = std::all_of(after, after + before.size(), [&](auto word) { return word == pattern; });
  return {};
}

}  // namespace kiln::builder

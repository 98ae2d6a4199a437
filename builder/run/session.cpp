// SPDX-License-Identifier: Apache-2.0
// Makes buffers and images, sets arguments, and launches the stages, all through the runtime.
#include "builder/run/session.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>

#include "builder/run/pack_on_device.hpp"
#include "runtime/device/device.hpp"

namespace kiln::builder {
namespace {

using Clock = std::chrono::steady_clock;

// Outputs and guards are mapped both ways: the host fills them, and memory that is mapped only for
// writing loses its bytes.
kiln_access access_of(Role role, std::size_t guard) {
  return role == Role::input && guard == 0 ? KILN_ACCESS_READ : KILN_ACCESS_BOTH;
}

kiln_ndrange range_of(const Stage &stage, const NDSize &local) {
  return {stage.dimensions,
          {stage.global[0], stage.global[1], stage.global[2]},
          {local[0], local[1], local[2]},
          {}};
}

// Returns the sides of an image that devices limit, each with the limit; none of a buffer.
std::vector<std::pair<std::uint64_t, cl_device_info>> limited_sides(const Memory &memory) {
  const std::uint64_t columns = memory.columns;
  const std::uint64_t rows = memory.rows / memory.slices;
  switch (memory.storage) {
    case Storage::buffer:
    case Storage::local: break;
    case Storage::image:
      return {{columns, CL_DEVICE_IMAGE2D_MAX_WIDTH}, {rows, CL_DEVICE_IMAGE2D_MAX_HEIGHT}};
    case Storage::image1d: return {{columns, CL_DEVICE_IMAGE2D_MAX_WIDTH}};
    case Storage::image1d_buffer: return {{columns, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE}};
    case Storage::image1d_array:
      return {{columns, CL_DEVICE_IMAGE2D_MAX_WIDTH},
              {memory.slices, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE}};
    case Storage::image2d_array:
      return {{columns, CL_DEVICE_IMAGE2D_MAX_WIDTH},
              {rows, CL_DEVICE_IMAGE2D_MAX_HEIGHT},
              {memory.slices, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE}};
    case Storage::image3d:
      return {{columns, CL_DEVICE_IMAGE3D_MAX_WIDTH},
              {rows, CL_DEVICE_IMAGE3D_MAX_HEIGHT},
              {memory.slices, CL_DEVICE_IMAGE3D_MAX_DEPTH}};
  }
  return {};
}

}  // namespace

Status over_limits(const runtime::OpenCL &cl, cl_device_id device, const Workload &workload) {
  const auto limit = [&](cl_device_info what) {
    std::uint64_t value = 0;  // size_t or cl_ulong; little-endian in both
    const cl_int code = cl.clGetDeviceInfo(device, what, sizeof(value), &value, nullptr);
    return code == CL_SUCCESS && value != 0 ? value : UINT64_MAX;
  };
  const std::uint64_t bytes = limit(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  for (const Memory &memory : workload.memories) {
    std::string sides;
    std::string most;
    bool fits = true;
    for (const auto &[side, what] : limited_sides(memory)) {
      const char *const between = sides.empty() ? "" : "x";
      fits = fits && side <= limit(what);
      sides += between + std::to_string(side);
      most += between + std::to_string(limit(what));
    }
    if (!fits) {
      return {
          Code::over_limit,
          fmt::format("an image of {} is larger than the {} that this device takes", sides, most)};
    }
    if (memory.bytes() > bytes) {
      return {Code::over_limit,
              fmt::format("{} bytes of memory are more than the {} that this device takes at once",
                          memory.bytes(), bytes)};
    }
  }
  return {};
}

double Launched::device_nanoseconds() const {
  if (times.empty() || times.front().start == 0 || times.back().end <= times.front().start) {
    return 0;
  }
  return static_cast<double>(times.back().end - times.front().start);
}

Status Session::load(const kiln::Program &program, const packs::Variant &variant) {
  kernels_.clear();
  for (const packs::Kernel &kernel : variant.kernels) {
    Status status = take(kiln::Kernel::create(program, kernel.name), &kernels_.emplace_back());
    if (!status.ok()) return status;
  }
  return {};
}

Status Session::bind(const Workload &workload, std::size_t guard, bool exactly) {
  if (workload.memories.size() != held_.size()) held_.clear();
  held_.resize(workload.memories.size());
  workload_ = workload;
  guard_ = guard;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    Status status = make(workload.memories[i], exactly, &held_[i]);
    if (!status.ok()) return status;
  }
  return set_arguments();
}

Status Session::make(const Memory &memory, bool exactly, Held *held) {
  if (packs::is_image(memory.storage)) return make_image(memory, held);
  const std::size_t size = memory.bytes() + guard_;
  if (held->capacity >= size && !exactly) return {};
  held->capacity = size;
  held->buffer = {};
  return take(kiln::Buffer::create(loader_, size, access_of(memory.role, guard_)), &held->buffer);
}

Status Session::make_image(const Memory &memory, Held *held) {
  if (memory.type == Type::uchar_ && memory.is_normalized && memory.storage == Storage::image) {
    return take(kiln::Image::create(loader_, memory.columns, memory.rows, memory.channels,
                                    access_of(memory.role, 0)),
                &held->image);
  }
  MemoryObject made;
  Status status = builder::make_image(cl_, kiln_loader_context(loader_.get()), image_format(memory),
                                      image_desc(memory), memory.bytes(), &made);
  if (!status.ok()) return status;
  held->pixels = std::move(made.pixels);
  return take(kiln::Image::from_cl(loader_, made.object.get(), access_of(memory.role, 0)),
              &held->image);
}

Status Session::set_arguments() {
  std::vector<runtime::Handle<cl_sampler>> samplers;
  for (std::size_t s = 0; s < workload_.stages.size(); ++s) {
    const auto &bindings = workload_.stages[s].bindings;
    for (unsigned i = 0; i < bindings.size(); ++i) {
      const Binding &b = bindings[i];
      kiln::Status status;
      if (b.sampler) {
        Status made = make_sampler(cl_, kiln_loader_context(loader_.get()), *b.sampler,
                                   &samplers.emplace_back());
        if (!made.ok()) return made;
        status = kernels_[s].set(i, samplers.back().get());
      } else if (b.local != 0) {
        status = kernels_[s].set(i, kiln::local(b.local));
      } else if (b.memory == SIZE_MAX) {
        kiln_kernel_set_value(kernels_[s].get(), i, b.bytes.data(), b.bytes.size(), &status);
      } else if (packs::is_image(workload_.memories[b.memory].storage)) {
        status = kernels_[s].set(i, held_[b.memory].image);
      } else {
        status = kernels_[s].set(i, held_[b.memory].buffer);
      }
      if (!status) return status_of(status);
    }
  }
  samplers_ = std::move(samplers);
  return {};
}

Status Session::with_memory(std::size_t index, const std::function<void(const MappedRows &)> &use) {
  const Memory &memory = workload_.memories[index];
  const Held &held = held_[index];
  if (memory.storage == Storage::image) {
    auto mapped = held.image.map(queue_);
    if (!mapped) return status_of(mapped.error());
    use({static_cast<std::uint8_t *>(mapped->address), mapped->row_pitch, memory.rows,
         memory.rows});
    return status_of(held.image.unmap(queue_));
  }
  if (packs::is_image(memory.storage)) {
    return with_image(cl_, queue_.cl(), held.image.cl(), held.pixels.get(), image_desc(memory),
                      CL_MAP_READ | CL_MAP_WRITE, use);
  }
  auto mapped = held.buffer.map(queue_);
  if (!mapped) return status_of(mapped.error());
  use({static_cast<std::uint8_t *>(*mapped), memory.row_bytes(), memory.rows, memory.rows});
  return status_of(held.buffer.unmap(queue_));
}

Status Session::upload(const std::vector<Plane> &inputs, std::uint8_t beyond) {
  auto plane = inputs.begin();
  for (std::size_t i = 0; i < workload_.memories.size(); ++i) {
    const Memory &memory = workload_.memories[i];
    if (memory.role != Role::input) continue;
    const auto named = std::find_if(inputs.begin(), inputs.end(),
                                    [&](const Plane &p) { return p.name == memory.shape.name; });
    if (named != inputs.end()) plane = named;
    if (plane == inputs.end()) return {Code::bad_argument, "an input is missing"};
    Status status = with_memory(i, [&](const MappedRows &to) {
      if (memory.storage == Storage::buffer) {
        std::memcpy(to.address, plane->pixels.data(), plane->pixels.size());
        return;
      }
      const std::size_t row = plane->row_bytes();
      for (std::size_t y = 0; y < plane->height; ++y) {
        std::memcpy(to.row(y), plane->pixels.data() + y * row, row);
        std::memset(to.row(y) + row, beyond, memory.row_bytes() - row);
      }
    });
    if (!status.ok()) return status;
    ++plane;
  }
  return {};
}

Status Session::fill_outputs(std::uint8_t value) {
  for (std::size_t i = 0; i < workload_.memories.size(); ++i) {
    const Memory &memory = workload_.memories[i];
    const bool image = packs::is_image(memory.storage);
    // An input that is mapped for writing loses its contents, so it is mapped only to fill a guard.
    if (memory.role == Role::input && (guard_ == 0 || image)) continue;
    Status status = with_memory(i, [&](const MappedRows &to) {
      if (!image) std::memset(to.address + memory.bytes(), value, guard_);
      if (memory.role == Role::input) return;
      for (std::size_t y = 0; y < memory.rows; ++y) {
        std::memset(to.row(y), memory.accumulates ? 0 : value, memory.row_bytes());
      }
    });
    if (!status.ok()) return status;
  }
  return {};
}

Status Session::launch(const std::vector<NDSize> &local, Launched *out) {
  out->ranges.clear();
  std::vector<kiln::Event> events;
  const auto start = Clock::now();
  for (std::size_t s = 0; s < workload_.stages.size(); ++s) {
    const kiln_ndrange range =
        range_of(workload_.stages[s], s < local.size() ? local[s] : NDSize{});
    auto event = kernels_[s].launch(queue_, range);
    if (!event) return status_of(event.error());
    events.push_back(std::move(*event));
  }
  if (Status s = status_of(events.back().wait()); !s.ok()) return s;
  out->host_nanoseconds = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  for (std::size_t s = 0; s < workload_.stages.size(); ++s) {
    const kiln_ndrange range =
        range_of(workload_.stages[s], s < local.size() ? local[s] : NDSize{});
    Status status = take(kernels_[s].plan(range), &out->ranges.emplace_back());
    if (!status.ok()) return status;
  }
  return finish(events, out);
}

Status Session::finish(const std::vector<kiln::Event> &events, Launched *out) {
  out->times.clear();
  for (const kiln::Event &event : events) {
    Status status = take(event.times(), &out->times.emplace_back());
    if (!status.ok() && status.cl_error != CL_PROFILING_INFO_NOT_AVAILABLE) return status;
  }
  return {};
}

Status Session::launch_as_driver(Launched *out) {
  std::vector<kiln::Event> events;
  out->ranges.clear();
  const auto start = Clock::now();
  for (std::size_t s = 0; s < workload_.stages.size(); ++s) {
    const kiln_ndrange range = range_of(workload_.stages[s], {});
    cl_event event = nullptr;
    const cl_int code =
        cl_.clEnqueueNDRangeKernel(queue_.cl(), kernels_[s].cl(), range.dimensions, nullptr,
                                   range.global, nullptr, 0, nullptr, &event);
    if (code != CL_SUCCESS) return runtime::cl_failure("clEnqueueNDRangeKernel", code);
    Status status = take(kiln::Event::from_cl(loader_, event), &events.emplace_back());
    cl_.clReleaseEvent(event);
    if (!status.ok()) return status;
    out->ranges.push_back(range);
  }
  if (Status s = status_of(events.back().wait()); !s.ok()) return s;
  out->host_nanoseconds = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  return finish(events, out);
}

Status Session::download(const ProgramShape &shape, std::vector<Plane> *outputs,
                         bool *guards_intact, std::uint8_t guard_value) {
  outputs->clear();
  if (guards_intact != nullptr) *guards_intact = true;
  for (const PlaneShape &wanted : shape.outputs) {
    Plane plane = blank_plane(wanted, workload_.size);
    const std::size_t row = plane.row_bytes();
    for (std::size_t i = 0; i < workload_.memories.size(); ++i) {
      const Memory &memory = workload_.memories[i];
      const bool this_one = memory.shape.name == wanted.name || shape.outputs.size() == 1;
      if (memory.role != Role::output || !this_one) continue;
      Status status = with_memory(i, [&](const MappedRows &from) {
        if (memory.storage == Storage::buffer) {
          std::memcpy(plane.pixels.data(), from.address, plane.pixels.size());
          const std::uint8_t *guard = from.address + memory.bytes();
          const bool intact =
              std::all_of(guard, guard + guard_, [&](std::uint8_t b) { return b == guard_value; });
          if (guards_intact != nullptr) *guards_intact = *guards_intact && intact;
          return;
        }
        for (std::size_t y = 0; y < plane.height; ++y) {
          std::memcpy(plane.pixels.data() + y * row, from.row(y), row);
        }
      });
      if (!status.ok()) return status;
    }
    outputs->push_back(std::move(plane));
  }
  return {};
}

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Launching a loaded variant, all its kernels in order, again and again on one set of memory.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/launch/workload.hpp"
#include "kiln/kiln.hpp"
#include "runtime/launch/work_group.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::builder {

// The work-group size of a stage: {0, 0, 0} as the runtime chooses.
using runtime::NDSize;

// One launch of all stages.
struct Launched {
  std::vector<kiln_times> times;     // of each stage, on the device's clock
  std::vector<kiln_ndrange> ranges;  // as launched: padded, with the local size
  double host_nanoseconds = 0;       // from the first enqueue until all was done

  // From the first start to the last end; 0 where the device's clock tells nothing.
  double device_nanoseconds() const;
};

// Of an image's memory.
cl_image_format image_format(const Memory &memory);

// Fails with Code::over_limit if some of the workload's memory is larger than the device takes.
Status over_limits(const runtime::OpenCL &cl, cl_device_id device, const Workload &workload);

// A call fails with Code::opencl, or the code of the runtime, where a call of theirs fails. Not
// for more than one thread.
class Session {
 public:
  // All three outlive the session.
  Session(const runtime::OpenCL &cl, const kiln::Loader &loader, const kiln::Queue &queue)
      : cl_(cl), loader_(loader), queue_(queue) {}

  // The kernels of the variant's stages.
  Status load(const kiln::Program &program, const packs::Variant &variant);

  // Makes memory for the workload, each buffer with `guard` bytes behind its end, and binds it.
  // Buffers that were made before and are large enough are used again, unless `exactly`.
  Status bind(const Workload &workload, std::size_t guard = 0, bool exactly = false);

  // Inputs in the order of program_shape(); what a packed image holds beyond its plane is filled
  // with `beyond`. Fails with Code::bad_argument if an input is missing.
  Status upload(const std::vector<Plane> &inputs, std::uint8_t beyond = 0);
  // Every byte of outputs and scratch memory, and the guards; outputs that accumulate become 0.
  Status fill_outputs(std::uint8_t value);
  // One local size for each stage, or none at all.
  Status launch(const std::vector<NDSize> &local, Launched *out);
  // The driver chooses the work-group sizes.
  Status launch_as_driver(Launched *out);
  // Outputs in the order of program_shape(). `guards_intact`, if it is given, gets whether
  // every guard still has `guard_value` in every byte.
  Status download(const ProgramShape &shape, std::vector<Plane> *outputs,
                  bool *guards_intact = nullptr, std::uint8_t guard_value = 0);

  const std::vector<kiln::Kernel> &kernels() const { return kernels_; }
  const Workload &workload() const { return workload_; }

 private:
  struct Held {
    kiln::Buffer buffer;
    kiln::Image image;
    std::size_t capacity = 0;  // of the buffer, with its guard
  };
  struct Mapped {
    std::uint8_t *address = nullptr;
    std::size_t pitch = 0;
  };

  Status make(const Memory &memory, bool exactly, Held *held);
  Status make_image(const Memory &memory, Held *held);
  Status set_arguments();
  Status with_memory(std::size_t index, const std::function<void(const Mapped &)> &use);
  Status finish(const std::vector<kiln::Event> &events, Launched *out);

  const runtime::OpenCL &cl_;
  const kiln::Loader &loader_;
  const kiln::Queue &queue_;
  std::vector<kiln::Kernel> kernels_;
  Workload workload_;
  std::vector<Held> held_;
  std::size_t guard_ = 0;
};

}  // namespace kiln::builder

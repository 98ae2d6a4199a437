// SPDX-License-Identifier: Apache-2.0
// Launches a loaded variant repeatedly on one set of memory, with all its kernels in order.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/run/argument_objects.hpp"
#include "builder/run/workload.hpp"
#include "kiln/kiln.hpp"
#include "runtime/launch/work_group.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::builder {

// Work-group size of a stage; with {0, 0, 0} the runtime chooses.
using runtime::NDSize;

// One launch of all stages.
struct Launched {
  std::vector<kiln_times> times;     // one per stage, on the device's clock
  std::vector<kiln_ndrange> ranges;  // as launched: padded, with the local size
  double host_nanoseconds = 0;       // from the first enqueue until all was done

  // Returns the time from the first start to the last end; 0 if the device's clock gives no times.
  double device_nanoseconds() const;
};

// Fails with Code::over_limit if a buffer or image of the workload is larger than the device
// allows.
Status over_limits(const runtime::OpenCL &cl, cl_device_id device, const Workload &workload);

// Memory and kernels for launches of a workload. A method fails with Code::opencl if an OpenCL call
// fails, or with the runtime's code if a call of the runtime fails. Not for more than one thread.
class Session {
 public:
  // All three must outlive the session.
  Session(const runtime::OpenCL &cl, const kiln::Loader &loader, const kiln::Queue &queue)
      : cl_(cl), loader_(loader), queue_(queue) {}

  // Creates the kernels of the variant's stages.
  Status load(const kiln::Program &program, const packs::Variant &variant);

  // Makes the workload's memory, with `guard` bytes after the end of each buffer, and binds it.
  // Reuses earlier buffers that are large enough, unless `exactly`.
  Status bind(const Workload &workload, std::size_t guard = 0, bool exactly = false);

  // Copies the inputs, in the order of program_shape(), to the device, and fills the bytes of a
  // packed image beyond its plane with `beyond`. Fails with Code::bad_argument if an input is
  // missing.
  Status upload(const std::vector<Plane> &inputs, std::uint8_t beyond = 0);
  // Fills every byte of outputs, scratch memory and guards; outputs that accumulate become 0.
  Status fill_outputs(std::uint8_t value);
  // Launches all stages and waits. `local` has one local size for each stage, or none at all.
  Status launch(const std::vector<NDSize> &local, Launched *out);
  // Does the same with work-group sizes that the driver chooses.
  Status launch_as_driver(Launched *out);
  // Reads the outputs, in the order of program_shape(). `guards_intact`, if not null, is set to
  // whether every byte of every guard still is `guard_value`.
  Status download(const ProgramShape &shape, std::vector<Plane> *outputs,
                  bool *guards_intact = nullptr, std::uint8_t guard_value = 0);

  const std::vector<kiln::Kernel> &kernels() const { return kernels_; }
  const Workload &workload() const { return workload_; }

 private:
  struct Held {
    kiln::Buffer buffer;
    kiln::Image image;
    runtime::Handle<cl_mem> pixels;  // buffer of a 1D image of a buffer
    std::size_t capacity = 0;        // bytes of the buffer, with its guard
  };

  Status make(const Memory &memory, bool exactly, Held *held);
  Status make_image(const Memory &memory, Held *held);
  Status set_arguments();
  Status with_memory(std::size_t index, const std::function<void(const MappedRows &)> &use);
  Status finish(const std::vector<kiln::Event> &events, Launched *out);

  const runtime::OpenCL &cl_;
  const kiln::Loader &loader_;
  const kiln::Queue &queue_;
  std::vector<kiln::Kernel> kernels_;
  Workload workload_;
  std::vector<Held> held_;
  std::vector<runtime::Handle<cl_sampler>> samplers_;
  std::size_t guard_ = 0;
};

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Kernels and their arguments, queues, events and launches.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "runtime/launch/suggestion.hpp"
#include "runtime/launch/work_group.hpp"
#include "runtime/load/loader.hpp"

namespace kiln::runtime {

// The value of an argument: bytes, local memory, which has only a size, or a pointer to shared
// virtual memory.
struct ArgumentValue {
  std::string bytes;
  std::size_t local = 0;      // bytes of local memory; 0: it is none
  const void *svm = nullptr;  // pointer to shared virtual memory; null: it is none

  bool is_set() const { return size() != 0; }
  // size() and data() are what clSetKernelArg takes, and for a pointer what
  // clSetKernelArgSVMPointer and clUpdateMutableCommandsKHR take.
  std::size_t size() const {
    return svm != nullptr ? sizeof(svm) : local != 0 ? local : bytes.size();
  }
  const void *data() const { return svm != nullptr ? svm : local != 0 ? nullptr : bytes.data(); }

  friend bool operator==(const ArgumentValue &a, const ArgumentValue &b) {
    return a.local == b.local && a.svm == b.svm && a.bytes == b.bytes;
  }
};

// An argument as last set through Kiln.
struct KernelArgument {
  ArgumentValue value;
  bool is_memory = false;  // the bytes are a cl_mem
};

// The driver's suggestion for a class of ranges.
struct Suggestion {
  bool asked = false;
  NDSize local{0, 0, 0};  // zeros: no usable suggestion
  std::string refused;    // why there is none, if the driver was asked
};

struct Kernel {
  Kernel() = default;
  ~Kernel();  // out of line saves code size

  std::shared_ptr<const LoadedProgram> program;
  Handle<cl_kernel> handle;
  unsigned index = 0;  // position among the variant's kernels
  WorkGroupLimits limits;
  LaunchRules rules;
  bool non_uniform_work_groups = false;  // the global size need not be padded
  std::array<NDSize, packs::kSizeClasses> stored_local_sizes{};  // zeros: none
  std::array<kiln_local_source, packs::kSizeClasses> stored_sources{};
  bool may_suggest = false;  // the driver may be asked for a size
  std::array<std::array<Suggestion, packs::kSizeClasses>, 3>
      suggestions;  // [dimensions - 1][size class]
  std::unique_ptr<KernelArgument[]> arguments;
  unsigned argument_count = 0;
};

// Asks the driver for the limits of a kernel that was built for the device.
WorkGroupLimits query_limits(const Device &device, cl_kernel kernel);

// Creates the kernel named `name`; null takes the variant's first.
Status create_kernel(const std::shared_ptr<LoadedProgram> &program, const char *name, Kernel *out);

// Sets an argument and remembers it for recordings. A null `value` is local memory.
Status set_argument(Kernel *kernel, unsigned index, const void *value, std::size_t size,
                    bool is_memory);
// Sets an argument to a pointer to shared virtual memory, and remembers it. The driver must have
// clSetKernelArgSVMPointer.
Status set_svm_argument(Kernel *kernel, unsigned index, const void *pointer);

// Passes the value to the driver.
cl_int pass_argument(const OpenCL &cl, cl_kernel kernel, unsigned index,
                     const ArgumentValue &value);

// Says which argument an error is about.
Status argument_failure(unsigned index, const Status &error);

// Makes a new kernel object of the same entry point with the same arguments. Fails with
// Code::bad_argument if an argument was never set through Kiln. (Few drivers have clCloneKernel,
// and an ICD loader calls a missing one through a null pointer.)
Status copy_kernel(const Kernel &kernel, Handle<cl_kernel> *out);

struct LaunchPlan {
  cl_uint dimensions = 1;
  NDSize offset{0, 0, 0};
  NDSize global{1, 1, 1};
  NDSize padded{1, 1, 1};  // `global` rounded up to whole groups
  NDSize local{1, 1, 1};
  kiln_local_source source = KILN_LOCAL_GUESS;  // where `local` came from

  // Returns the offset for OpenCL; null if it is zero, since every driver accepts null.
  const std::size_t *global_offset() const {
    return offset == NDSize{0, 0, 0} ? nullptr : offset.data();
  }
};

// Checks `range` and works out the local and global sizes by the variant's launch rules. Makes no
// OpenCL calls.
Status plan_launch(const Kernel &kernel, const kiln_ndrange &range, LaunchPlan *out);

// Plans a launch on `queue` with the kernel's current arguments. If no size is given, stored or
// required, asks the driver for one, once for each number of dimensions and size class: a query may
// take long, and drivers need not cache the answer.
Status plan_launch_on(cl_command_queue queue, Kernel *kernel, const kiln_ndrange &range,
                      LaunchPlan *out);

// Returns why the driver's suggestion is not used for that range; "" if the suggestion is used or
// was never requested. Valid until the next launch.
const char *suggestion_refused(const Kernel &kernel, const kiln_ndrange &range);

struct Queue {
  Queue() = default;
  ~Queue();  // out of line saves code size

  std::shared_ptr<const Loader> loader;
  Handle<cl_command_queue> handle;
  cl_command_queue_properties properties = 0;
  unsigned hints = 0;  // KILN_HINT_* bits that took effect
};

// Creates a queue with these properties and those `hints` (null: none) that the device supports.
// `always`: calls clCreateCommandQueueWithProperties, if the driver has it, even without hints.
Status create_queue_as(const Loader &loader, cl_command_queue_properties properties,
                       const QueueHints *hints, bool always, Queue *out);

// Creates a queue with checked `options`. Leaves out hints that the driver refuses.
Status create_queue(const std::shared_ptr<const Loader> &loader, const kiln_queue_options &options,
                    Queue *out);

// The events that a command waits for.
struct Waits {
  cl_uint count = 0;
  cl_event events[KILN_MAX_WAITS];

  const cl_event *data() const { return count == 0 ? nullptr : events; }
};

// Takes the event of an enqueued command, whatever the driver returned; `wanted` is null if no
// event was requested. Fails if `code` and the event disagree.
Status take_event(const OpenCL &cl, const char *call, cl_int code, cl_event event,
                  Handle<cl_event> *wanted);

// Enqueues the launch. If a driver refuses non-uniform work-groups, uses the padded range, and does
// so at once in later launches. `event` may be null.
Status enqueue(const Queue &queue, Kernel *kernel, const LaunchPlan &plan, const Waits &waits,
               Handle<cl_event> *event);

}  // namespace kiln::runtime

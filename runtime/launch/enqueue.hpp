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

// An argument as it was last set through Kiln; no bytes: not yet.
struct KernelArgument {
  std::string bytes;
  bool is_memory = false;  // the bytes are a cl_mem
};

// What the driver suggested for a class of ranges.
struct Suggestion {
  bool asked = false;
  NDSize local{0, 0, 0};  // zeros: nothing that can be launched
  std::string refused;    // why not, if it was asked
};

struct Kernel {
  Kernel() = default;
  ~Kernel();  // out of line: small

  std::shared_ptr<const LoadedProgram> program;
  Handle<cl_kernel> handle;
  unsigned index = 0;  // among the variant's kernels
  WorkGroupLimits limits;
  LaunchRules rules;
  bool non_uniform_work_groups = false;  // the global size need not be padded
  std::array<NDSize, packs::kSizeClasses> stored_local_sizes{};  // zeros: none
  std::array<kiln_local_source, packs::kSizeClasses> stored_sources{};
  SuggestLocalSize suggest = nullptr;  // null: the driver is not asked
  std::array<std::array<Suggestion, packs::kSizeClasses>, 3> suggestions;  // by dimensions less 1
  std::unique_ptr<KernelArgument[]> arguments;
  unsigned argument_count = 0;
};

// What the driver says of a kernel that was built for the device.
WorkGroupLimits query_limits(const Device &device, cl_kernel kernel);

// The kernel named `name`; empty takes the variant's first.
Status create_kernel(const std::shared_ptr<LoadedProgram> &program, const std::string &name,
                     Kernel *out);

// Sets an argument and remembers it for recordings.
Status set_argument(Kernel *kernel, unsigned index, const void *value, std::size_t size,
                    bool is_memory);

// A new kernel object of the same entry point with the same arguments. An argument that was
// never set through Kiln is Code::bad_argument. (clCloneKernel is in few drivers, and an ICD
// loader calls a missing one through a null pointer.)
Status copy_kernel(const Kernel &kernel, Handle<cl_kernel> *out);

struct LaunchPlan {
  cl_uint dimensions = 1;
  NDSize offset{0, 0, 0};
  NDSize global{1, 1, 1};
  NDSize padded{1, 1, 1};  // `global` in whole groups
  NDSize local{1, 1, 1};
  kiln_local_source source = KILN_LOCAL_GUESS;  // of `local`

  // As OpenCL takes it: null where it is zero, which every driver takes.
  const std::size_t *global_offset() const {
    return offset == NDSize{0, 0, 0} ? nullptr : offset.data();
  }
};

// Checks `range` and works out local and global size, by the variant's rules for launches. Calls no
// OpenCL.
Status plan_launch(const Kernel &kernel, const kiln_ndrange &range, LaunchPlan *out);

// The same for a launch on that queue, with the arguments as they are now. Where no size is given,
// stored or required, the driver is asked for one, once for each number of dimensions and size
// class: a query may take long, and drivers need not remember.
Status plan_launch_on(cl_command_queue queue, Kernel *kernel, const kiln_ndrange &range,
                      LaunchPlan *out);

// Why the driver's suggestion is not used for that range; "": it is, or was not asked for. Valid
// until the next launch.
const char *suggestion_refused(const Kernel &kernel, const kiln_ndrange &range);

struct Queue {
  Queue() = default;
  ~Queue();  // out of line: small

  std::shared_ptr<const Loader> loader;
  Handle<cl_command_queue> handle;
  cl_command_queue_properties properties = 0;
  unsigned hints = 0;  // KILN_HINT_* bits that were taken
};

// A queue with those properties; with `hints` (null: none) as far as the device has them. `always`:
// by clCreateCommandQueueWithProperties, if the driver has it, also without hints.
Status create_queue_as(const Loader &loader, cl_command_queue_properties properties,
                       const QueueHints *hints, bool always, Queue *out);

// `options` were checked. Hints that are not taken are left out.
Status create_queue(const std::shared_ptr<const Loader> &loader, const kiln_queue_options &options,
                    Queue *out);

// What a command waits for.
struct Waits {
  cl_uint count = 0;
  cl_event events[KILN_MAX_WAITS];

  const cl_event *data() const { return count == 0 ? nullptr : events; }
};

// Takes the event of an enqueued command, whatever the driver said; `wanted` null: none was
// asked for. `code` and event must agree.
Status take_event(const OpenCL &cl, const char *call, cl_int code, cl_event event,
                  Handle<cl_event> *wanted);

// Enqueues. A driver that refuses non-uniform work-groups gets the padded range, from then on at
// once. `event` may be null.
Status enqueue(const Queue &queue, Kernel *kernel, const LaunchPlan &plan, const Waits &waits,
               Handle<cl_event> *event);

// What an argument takes: a kiln_type, or one of these.
enum : unsigned {
  kTakesBuffer = KILN_TYPE_DOUBLE + 1,
  kTakesImage,
  kTakesSide  // of the problem: int or uint, the manifest does not say which
};

// Code::bad_argument if the pack knows that the argument takes something else.
Status check_argument(const Kernel &kernel, unsigned index, unsigned given, unsigned components);

// Sets a scalar or a vector after checking it. `type` is a kiln_type; the caller may have passed
// any numbers.
Status set_typed(Kernel *kernel, unsigned index, unsigned type, unsigned components,
                 const void *value);

}  // namespace kiln::runtime

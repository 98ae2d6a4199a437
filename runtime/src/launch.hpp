// Kernels, memory, queues and launches.
#pragma once

#include <memory>
#include <string>

#include "ladder.hpp"
#include "work_group.hpp"

namespace kiln::runtime {

struct Kernel {
  std::shared_ptr<const LoadedProgram> program;
  Handle<cl_kernel> handle;
  WorkGroupLimits limits;
  Size3 stored_local_size{0, 0, 0};
};

// The kernel named `name`; empty takes the variant's first.
Error create_kernel(const std::shared_ptr<LoadedProgram> &program, const std::string &name,
                    Kernel *out);

struct LaunchPlan {
  cl_uint dimensions = 1;
  Size3 global{1, 1, 1};  // padded
  Size3 local{1, 1, 1};
};

// Checks `range` and works out local and padded global size.
Error plan_launch(const Kernel &kernel, const kiln_ndrange &range, LaunchPlan *out);

struct Queue {
  std::shared_ptr<const Loader> loader;
  Handle<cl_command_queue> handle;
};

Error create_queue(const std::shared_ptr<const Loader> &loader, Queue *out);

// Enqueues and flushes; the event is set on success.
Error enqueue(const Queue &queue, const Kernel &kernel, const LaunchPlan &plan,
              Handle<cl_event> *event);

// A buffer or a 2D image. While it is mapped, `mapped` is the host's address.
struct Memory {
  std::shared_ptr<const Loader> loader;
  Handle<cl_mem> handle;
  cl_map_flags map_flags = 0;
  std::size_t size = 0;   // buffers
  std::size_t width = 0;  // images
  std::size_t height = 0;
  void *mapped = nullptr;
};

Error create_buffer(const std::shared_ptr<const Loader> &loader, std::size_t size,
                    kiln_access access, Memory *out);
Error create_image(const std::shared_ptr<const Loader> &loader, std::size_t width,
                   std::size_t height, unsigned channels, kiln_access access, Memory *out);
Error map_buffer(const Queue &queue, Memory *memory);
Error map_image(const Queue &queue, Memory *memory, std::size_t *row_pitch);
Error unmap(const Queue &queue, Memory *memory);

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// How an application launches the kernels of recorded or cached programs, each kind of launch once;
// and a launch as a line of a pack (packs/FORMAT.md, "Launches").
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/layer/base/counted_handles.hpp"
#include "runtime/layer/base/next.hpp"

namespace kiln::layer {

// An argument as clSetKernelArg got it.
struct SetArgument {
  enum class Kind : std::uint8_t { not_set, value, memory, sampler, shared_memory };
  Kind kind = Kind::not_set;
  std::size_t size = 0;  // of shared memory: bytes behind the pointer; 0: not known
  std::string bytes;     // empty for a null pointer
  bool is_null = false;  // local memory, or no memory object
};

// The sizes of a clEnqueueNDRangeKernel; unused dimensions are 1, and 0 in the offset.
struct Range {
  cl_uint dimensions = 1;
  std::size_t global[3]{1, 1, 1};
  std::size_t local[3]{0, 0, 0};  // 0: left to the driver
  std::size_t offset[3]{0, 0, 0};
};

// Returns the kernel's name; empty if the driver does not report it.
std::string kernel_name(cl_kernel kernel);

// Returns whether a line of `text` begins with `kind`.
bool has_kind(const std::string &text, const std::string &kind);

// Watches the launches of programs with a file. Thread-safe.
class Launches {
 public:
  // A launch that was not seen before.
  struct Fresh {
    cl_program program;
    std::string file;  // the file of the kernel's program
    std::string kernel;
    std::string kind;
    std::string text;
  };

  // Registers a program whose launches the file gets, with those that are known. If `file` is
  // empty, the handle is a new program that no file holds.
  void set_program(cl_program program, const std::string &file, const std::string &lines = "");
  // Returns whether no program has had a file yet.
  bool is_idle() const { return !has_files_; }
  // Adds a line to the program's launches. Returns false if the program has as many as it may have,
  // or if the line is not new.
  bool add_launch(cl_program program, const std::string &line);
  void add_kernel(cl_kernel kernel, cl_program program);
  void add_clone(cl_kernel clone, cl_kernel of);
  void retain(cl_kernel kernel);
  void release(cl_kernel kernel);

  // Registers memory objects and samplers by handle: only the handle tells them from numbers.
  void add_object(const void *handle, SetArgument::Kind kind);
  void retain_object(const void *handle);
  void release_object(const void *handle);

  // Registers shared virtual memory, and finds how many bytes there are from a pointer on; 0 if the
  // pointer points into none.
  void add_shared(const void *memory, std::size_t size);
  void remove_shared(const void *memory);
  std::size_t shared_behind(const void *pointer);

  void set_argument(cl_kernel kernel, cl_uint index, SetArgument argument);
  std::optional<Fresh> see(cl_kernel kernel, const Range &range);
  // Forgets a failed launch: the next of its kind is fresh again.
  void forget(const Fresh &launch);

 private:
  struct Known {
    std::string file;
    std::string lines;
  };

  struct Watched {
    cl_program program;
    std::string name;
    std::vector<SetArgument> arguments;
  };

  std::vector<SetArgument> resolved(const Watched &watched) const;

  std::mutex mutex_;
  CountedHandles<const void *, SetArgument::Kind> objects_;
  std::map<const char *, std::size_t> shared_;  // sizes
  std::unordered_map<cl_program, Known> programs_;
  CountedHandles<cl_kernel, Watched> kernels_;
  std::set<std::string> seen_;
  std::atomic<bool> has_files_{false};
};

// Never destroyed, like objects().
Launches &launches();

}  // namespace kiln::layer

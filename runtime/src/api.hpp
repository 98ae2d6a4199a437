// What stands behind the opaque handles of kiln.h, and how errors cross.
#pragma once

#include "kiln/kiln.h"
#include "memory.hpp"
#include "sequence.hpp"

struct kiln_opencl {
  std::shared_ptr<const kiln::runtime::OpenCL> cl;
};
struct kiln_device {
  std::shared_ptr<const kiln::runtime::Device> device;
};
struct kiln_pack {
  std::shared_ptr<const kiln::packs::Pack> pack;
};
struct kiln_loader {
  std::shared_ptr<const kiln::runtime::Loader> loader;
};
struct kiln_program {
  std::shared_ptr<kiln::runtime::LoadedProgram> program;
};
struct kiln_report {
  kiln::runtime::Report report;
  std::mutex mutex;
  std::string json;  // guarded by `mutex`; made when it is first asked for
};
struct kiln_kernel {
  kiln::runtime::Kernel kernel;
};
struct kiln_queue {
  kiln::runtime::Queue queue;
};
struct kiln_buffer {
  kiln::runtime::Memory memory;
};
struct kiln_image {
  kiln::runtime::Memory memory;
};
struct kiln_event {
  std::shared_ptr<const kiln::runtime::Loader> loader;
  kiln::runtime::Handle<cl_event> handle;
};

struct kiln_sequence {
  kiln::runtime::Sequence sequence;
};

namespace kiln::runtime {

// Copies the error out, where the caller wants it, and returns its status.
kiln_status report_error(const Error &error, kiln_error *out);

// The complaint about a null argument.
kiln_status null_argument(const char *function, kiln_error *out);

// Moves a new object behind its handle, or reports why there is none.
template <typename HandleType, typename Object>
kiln_status hand_out(const Error &made, Object &&object, HandleType **out, kiln_error *error) {
  if (!made.ok()) return report_error(made, error);
  *out = new HandleType{std::forward<Object>(object)};
  return KILN_OK;
}

// KILN_ERROR_ARGUMENT for loaders of different contexts: "PAIR are of other contexts".
inline Error check_context(const Loader &one, const Loader &other, const char *pair) {
  if (one.context.get() == other.context.get()) return {};
  return failure(KILN_ERROR_ARGUMENT, std::string(pair) + " are of other contexts");
}

// The events that a command on that loader's context waits for.
Error collect_waits(const Loader &loader, const kiln_event *const *wait, size_t count, Waits *out);

// Calls `enqueue(Handle<cl_event> *)`, with null where the caller wants no event, and puts what
// it made behind `*event`, old or new.
template <typename Enqueue>
Error enqueue_into(const std::shared_ptr<const Loader> &loader, kiln_event **event,
                   Enqueue enqueue) {
  if (event == nullptr) return enqueue(nullptr);
  Handle<cl_event> made;
  Error error = enqueue(&made);
  if (!error.ok()) return error;
  if (*event == nullptr) *event = new kiln_event;
  if ((*event)->loader != loader) (*event)->loader = loader;
  (*event)->handle = std::move(made);
  return error;
}

}  // namespace kiln::runtime

// Returns from the function when any of the pointers is null.
#define KILN_REQUIRE(condition, error) \
  if (!(condition)) return kiln::runtime::null_argument(__func__, error)

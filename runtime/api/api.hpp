// SPDX-License-Identifier: Apache-2.0
// The objects that the opaque handles of kiln.h point to, and how errors reach the caller.
#pragma once

#include "kiln/kiln.h"
#include "runtime/launch/memory.hpp"
#include "runtime/load/programs.hpp"

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
  kiln::runtime::Programs programs;
};
struct kiln_program {
  std::shared_ptr<kiln::runtime::LoadedProgram> program;
};
struct kiln_report {
  std::shared_ptr<const kiln::runtime::Report> report;
  kiln::runtime::Choice choice;
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

// The functions that give a loader under construction its persistence, and its trust.
struct kiln_overlay_part {
  void (*open)(const kiln_loader_options &options, kiln::runtime::Loader *loader);
};
struct kiln_trust_part {
  kiln::runtime::Status (*take)(const kiln_trust &trust, kiln::runtime::Loader *loader);
  // Opens a pack of another user's again, checked as it is read, if it is signed by the keys of
  // `trust`, whose policy is another than KILN_TRUST_NONE and whose revision does not count.
  kiln::runtime::Status (*accept)(const kiln_trust &trust,
                                  std::shared_ptr<const kiln::packs::Pack> *pack);
};

namespace kiln::runtime {

// Copies the error to `out`, if the caller wants it, and returns its status.
kiln_status report_error(const Status &error, kiln_error *out);

// Reports that a required argument of `function` is null.
kiln_status null_argument(const char *function, kiln_error *out);

// Sets `*out` to `made` on success; otherwise deletes `made` and reports the error.
template <typename T>
kiln_status hand_out(const Status &error, T *made, T **out, kiln_error *details) {
  if (error.ok()) {
    *out = made;
    return KILN_OK;
  }
  delete made;
  return report_error(error, details);
}

// Fails with KILN_ERROR_ARGUMENT and `message` if the loaders have different contexts.
Status check_context(const Loader &one, const Loader &other, const char *message);
// Fails with KILN_ERROR_ARGUMENT if `kernel` belongs to another device or context than `loader`,
// whose queue is to run it.
Status check_kernel(const Loader &loader, const Kernel &kernel);

// Returns whether `access` is a known value: a C program can pass any number.
bool known_access(const kiln_access &access);

// Collects the events that a command in the loader's context waits for.
Status collect_waits(const Loader &loader, const kiln_event *const *wait, size_t count, Waits *out);

// Ends a command: puts its event into `*event`, old or new, if one is wanted.
kiln_status end_command(const Status &result, const std::shared_ptr<const Loader> &loader,
                        Handle<cl_event> *made, kiln_event **event, kiln_error *error);

}  // namespace kiln::runtime

// Returns KILN_ERROR_ARGUMENT from the function if `condition` (no pointer is null) is false.
#define KILN_REQUIRE(condition, error) \
  if (!(condition)) return kiln::runtime::null_argument(__func__, error)

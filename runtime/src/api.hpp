// What stands behind the opaque handles of kiln.h, and how errors cross.
#pragma once

#include "kiln/kiln.h"
#include "launch.hpp"
#include "programs.hpp"

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

namespace kiln::runtime {

// Copies the error out, where the caller wants it, and returns its status.
kiln_status report_error(const Error &error, kiln_error *out);

// The complaint about a null argument.
kiln_status null_argument(const char *function, kiln_error *out);

}  // namespace kiln::runtime

// Returns from the function when any of the pointers is null.
#define KILN_REQUIRE(condition, error) \
  if (!(condition)) return kiln::runtime::null_argument(__func__, error)

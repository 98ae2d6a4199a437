// Errors inside the runtime, and the names of OpenCL's codes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "kiln/kiln.h"
#include "kiln/packs/status.hpp"

namespace kiln::runtime {

// Made, moved and destroyed out of line: that happens in nearly every function.
struct [[nodiscard]] Error {
  Error();
  Error(kiln_status status, cl_int cl_error, std::string message);
  Error(const Error &other);
  Error(Error &&other) noexcept;
  Error &operator=(Error &&other) noexcept;
  ~Error();

  bool ok() const { return status == KILN_OK; }

  kiln_status status = KILN_OK;
  cl_int cl_error = 0;
  std::string message;
};

Error failure(kiln_status status, std::string_view message);
Error failure(kiln_status status, std::initializer_list<std::string_view> parts);

using packs::concat;
using packs::decimal;

// "CL_INVALID_BINARY (-42)"; codes without a known name give the number alone.
std::string cl_error_text(cl_int code);

// "clBuildProgram returned CL_INVALID_BINARY (-42)". With CL_SUCCESS, for a call that gave
// nothing: "clCreateKernel reported success without a result".
Error cl_failure(const char *call, cl_int code);

// A pack's fault as the status of the C API; the message is kept.
Error pack_failure(const packs::Status &status);

}  // namespace kiln::runtime

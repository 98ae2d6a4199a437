// SPDX-License-Identifier: Apache-2.0
// OpenCL's errors, and the C API's, as a Status.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "kiln/kiln.h"
#include "kiln/packs/status.hpp"

namespace kiln::runtime {

using packs::Code;
using packs::concat;
using packs::decimal;
using packs::Status;

std::string signed_decimal(cl_int value);

// Returns a text such as "CL_INVALID_BINARY (-42)"; for a code without a known name, the number
// alone.
std::string cl_error_text(cl_int code);

// Returns an error such as "clBuildProgram returned CL_INVALID_BINARY (-42)". CL_SUCCESS stands for
// a call without a result: "clCreateKernel reported success without a result".
Status cl_failure(const char *call, cl_int code);

// Returns the C API's status for a code; codes of building have none of their own.
kiln_status status_of(Code code);

}  // namespace kiln::runtime

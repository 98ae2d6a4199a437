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

// "CL_INVALID_BINARY (-42)"; codes without a known name give the number alone.
std::string cl_error_text(cl_int code);

// "clBuildProgram returned CL_INVALID_BINARY (-42)". With CL_SUCCESS, for a call without
// a result: "clCreateKernel reported success without a result".
Status cl_failure(const char *call, cl_int code);

// The status of the C API for a code; codes of building are none of its own.
kiln_status status_of(Code code);

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// Programs that are compiled and linked in two calls. A program that is compiled with -D, -U and -I
// alone, and then linked alone without options, equals the result of one clBuildProgram, and is
// recorded and served under that name. Any other link is named after its parts, with the options of
// each, and after the linker's options.
#pragma once

#include <optional>

#include "runtime/layer/serve/builds.hpp"

namespace kiln::layer {

struct CompileArguments {
  BuildArguments build;
  cl_uint header_count;
  const cl_program *headers;
  const char **names;
};

// Does clCompileProgram. If a pack has the program's binary, does not call the driver: see
// compile_deferred().
Done compile(const ProgramPointer &program, const CompileArguments &arguments);

// Has the driver compile what compile() deferred, if it did: the text that was named then, in a
// stand-in. Call it before asking the driver about the program.
void compile_deferred(cl_program program);

// Answers a query about a deferred program as if it had been compiled. Returns nothing if the
// driver must be asked.
std::optional<cl_int> deferred_build_info(cl_program program, cl_device_id device,
                                          cl_program_build_info what, size_t room, void *out,
                                          size_t *size);

struct LinkArguments {
  cl_context context;
  BuildArguments build;
  cl_uint count;
  const cl_program *programs;
};

// Does clLinkProgram; `code` must not be null.
cl_program link(const LinkArguments &arguments, cl_int *code);

}  // namespace kiln::layer

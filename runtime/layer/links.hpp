// SPDX-License-Identifier: Apache-2.0
// Programs that are compiled and linked in two calls. One program that is compiled and then linked
// alone, without options of the linker, is the program that one clBuildProgram would make of it,
// and is recorded and served as that. Another link has the name of its parts and options: the
// overlay keeps it and serves it, and no pack is built of it.
#pragma once

#include <optional>

#include "runtime/layer/builds.hpp"

namespace kiln::layer {

struct CompileArguments {
  BuildArguments build;
  cl_uint header_count;
  const cl_program *headers;
  const char **names;
};

// clCompileProgram. If a pack has the binary of the program, the driver is not called: see
// compile_deferred().
cl_int compile(const ProgramPointer &program, const CompileArguments &arguments);

// Has the driver compile what compile() put off, if it did: the text that was named then, in a
// twin. Call it before the driver is asked for anything of the program.
void compile_deferred(cl_program program);

// What the application may ask of a program that was put off, as if it had been compiled. Nothing
// if the driver must be asked.
std::optional<cl_int> deferred_build_info(cl_program program, cl_device_id device,
                                          cl_program_build_info what, size_t room, void *out,
                                          size_t *size);

struct LinkArguments {
  cl_context context;
  BuildArguments build;
  cl_uint count;
  const cl_program *programs;
};

// clLinkProgram; `code` is not null.
cl_program link(const LinkArguments &arguments, cl_int *code);

}  // namespace kiln::layer

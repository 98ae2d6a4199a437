// SPDX-License-Identifier: Apache-2.0
// Programs: made from source, binary or IL, built, asked, released.
#pragma once

#include "tests/support/driver/faults.hpp"
#include "tests/support/driver/objects.hpp"

namespace kiln::driver {

using ProgramNotify = void(CL_CALLBACK *)(cl_program, void *);

cl_program CL_API_CALL create_with_source(cl_context context, cl_uint count, const char **strings,
                                          const std::size_t *lengths, cl_int *code_ret);
cl_program CL_API_CALL create_with_binary(cl_context context, cl_uint count,
                                          const cl_device_id *ids, const std::size_t *lengths,
                                          const unsigned char **binaries, cl_int *statuses,
                                          cl_int *code_ret);
cl_program CL_API_CALL create_with_il(cl_context context, const void *il, std::size_t length,
                                      cl_int *code_ret);

cl_int CL_API_CALL build_program(cl_program id, cl_uint count, const cl_device_id *ids,
                                 const char *options, ProgramNotify notify, void *data);
cl_int CL_API_CALL retain_program(cl_program id);
cl_int CL_API_CALL release_program(cl_program id);

cl_int CL_API_CALL get_program_info(cl_program id, cl_program_info query, std::size_t size,
                                    void *value, std::size_t *size_ret);
cl_int CL_API_CALL get_build_info(cl_program id, cl_device_id device, cl_program_build_info query,
                                  std::size_t size, void *value, std::size_t *size_ret);

// The end of each create function: makes the program known, and plays program_with_error and
// empty. Null with the real driver's code where it made no program.
cl_program finish(std::unique_ptr<Program> program, cl_int code, const Fault *fault,
                  cl_int *code_ret);

// A real program from text.
cl_program real_from_source(cl_context context, const std::string &text, cl_int *code);

// The binary as it is now of the program's device at `index`.
std::string binary_of(const Program &program, std::size_t index);

}  // namespace kiln::driver

// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/programs.hpp"

#include "tests/support/driver/contexts.hpp"

namespace kiln::driver {
namespace {

// What compiles to nothing.
constexpr char kEmptySource[] = "typedef int kiln_test_driver_empty;\n";

std::string join(cl_uint count, const char **strings, const std::size_t *lengths) {
  std::string text;
  for (cl_uint i = 0; i < count; ++i) {
    const bool terminated = lengths == nullptr || lengths[i] == 0;
    text += terminated ? std::string(strings[i]) : std::string(strings[i], lengths[i]);
  }
  return text;
}

}  // namespace

cl_program real_from_source(cl_context context, const std::string &text, cl_int *code) {
  const char *string = text.c_str();
  const std::size_t length = text.size();
  return real_driver()->table->clCreateProgramWithSource(context, 1, &string, &length, code);
}

cl_program finish(std::unique_ptr<Program> program, cl_int code, const Fault *fault,
                  cl_int *code_ret) {
  if (fault != nullptr && fault->action == Action::empty) {
    if (program->raw != nullptr) real_driver()->table->clReleaseProgram(program->raw);
    program->raw = real_from_source(program->context, kEmptySource, &code);
    program->source = kEmptySource;
    program->native = false;
    program->response = Response::recompile;
  }
  if (program->raw == nullptr) return done<cl_program>(nullptr, code, code_ret);
  const bool with_error = fault != nullptr && fault->action == Action::program_with_error;
  return done(publish(std::move(program)), with_error ? fault->code : CL_SUCCESS, code_ret);
}

cl_program CL_API_CALL create_with_source(cl_context context, cl_uint count, const char **strings,
                                          const std::size_t *lengths, cl_int *code_ret) {
  auto program = std::make_unique<Program>();
  program->context = context;
  program->devices = devices_of(context);
  program->source = join(count, strings, lengths);
  const Fault *fault = enter(call_of("clCreateProgramWithSource", *program));
  if (fault != nullptr && fault->action == Action::null) {
    return done<cl_program>(nullptr, CL_SUCCESS, code_ret);
  }
  if (fault != nullptr && fault->action == Action::error) {
    return done<cl_program>(nullptr, fault->code, code_ret);
  }
  cl_int code = CL_SUCCESS;
  program->raw = real_from_source(context, program->source, &code);
  return finish(std::move(program), code, fault, code_ret);
}

cl_int CL_API_CALL retain_program(cl_program id) {
  Program *program = program_of(id);
  if (program == nullptr) return CL_INVALID_PROGRAM;
  if (const Fault *fault = enter(call_of("clRetainProgram", *program))) return fault->code;
  ++program->references;
  return CL_SUCCESS;
}

cl_int CL_API_CALL release_program(cl_program id) {
  Program *program = program_of(id);
  if (program == nullptr) return CL_INVALID_PROGRAM;
  if (const Fault *fault = enter(call_of("clReleaseProgram", *program))) return fault->code;
  if (--program->references != 0) return CL_SUCCESS;
  retire(program);
  return real_driver()->table->clReleaseProgram(program->raw);
}

}  // namespace kiln::driver

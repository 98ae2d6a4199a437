// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/support/driver/contexts.hpp"
#include "tests/support/driver/faults.hpp"

namespace kiln::driver {
namespace {

cl_int refuse_kernel(Program *program) {
  if (program->response == Response::accept) return CL_SUCCESS;
  const BinaryRules &rules = program->devices.front()->script->binary;
  if (rules.at != Stage::kernel) return CL_SUCCESS;
  die(program->response);
  return program->response == Response::refuse ? rules.refusal : CL_SUCCESS;
}

std::string name_of(cl_kernel kernel) {
  std::size_t size = 0;
  real_driver()->table->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, 0, nullptr, &size);
  std::string name(size, '\0');
  real_driver()->table->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, name.data(),
                                        nullptr);
  return name.c_str();
}

void adopt(cl_kernel kernel, Program *program) {
  stamp(kernel);
  if (kernel == nullptr) return;
  remember(kernel, {program, name_of(kernel)});
  if (program != nullptr) program->kernels_created = true;
}

}  // namespace

cl_kernel CL_API_CALL create_kernel(cl_program id, const char *name, cl_int *code_ret) {
  Program *program = program_of(id);
  if (program == nullptr) return done<cl_kernel>(nullptr, CL_INVALID_PROGRAM, code_ret);
  Call call = call_of("clCreateKernel", *program);
  call.kernel = name;
  if (const Fault *fault = enter(call)) {
    return done<cl_kernel>(nullptr, fault->action == Action::null ? CL_SUCCESS : fault->code,
                           code_ret);
  }
  const cl_int refused = refuse_kernel(program);
  if (refused != CL_SUCCESS) return done<cl_kernel>(nullptr, refused, code_ret);
  cl_kernel kernel = real_driver()->table->clCreateKernel(program->raw, name, code_ret);
  adopt(kernel, program);
  return kernel;
}

cl_int CL_API_CALL create_kernels(cl_program id, cl_uint entries, cl_kernel *kernels,
                                  cl_uint *count) {
  Program *program = program_of(id);
  if (program == nullptr) return CL_INVALID_PROGRAM;
  if (const Fault *fault = enter(call_of("clCreateKernelsInProgram", *program))) {
    return fault->code;
  }
  const cl_int refused = refuse_kernel(program);
  if (refused != CL_SUCCESS) return refused;
  cl_uint made = 0;
  const cl_int code =
      real_driver()->table->clCreateKernelsInProgram(program->raw, entries, kernels, &made);
  if (count != nullptr) *count = made;
  for (cl_uint i = 0; code == CL_SUCCESS && kernels != nullptr && i < made; ++i) {
    adopt(kernels[i], program);
  }
  return code;
}

cl_kernel CL_API_CALL clone_kernel(cl_kernel kernel, cl_int *code_ret) {
  if (const Fault *fault = enter(call_of("clCloneKernel", kernel))) {
    return done<cl_kernel>(nullptr, fault->action == Action::null ? CL_SUCCESS : fault->code,
                           code_ret);
  }
  cl_kernel clone = real_driver()->table->clCloneKernel(kernel, code_ret);
  adopt(clone, state_of(kernel).program);
  return clone;
}

cl_int CL_API_CALL get_kernel_info(cl_kernel kernel, cl_kernel_info query, std::size_t size,
                                   void *value, std::size_t *size_ret) {
  Call call = call_of("clGetKernelInfo", kernel);
  call.query = query;
  const Fault *fault = enter(call);
  if (fault != nullptr && fault->action != Action::wrong_arguments) return fault->code;
  if (query == CL_KERNEL_PROGRAM) {
    return answer_value(handle_of(state_of(kernel).program), size, value, size_ret);
  }
  const cl_int code = real_driver()->table->clGetKernelInfo(kernel, query, size, value, size_ret);
  if (fault != nullptr && query == CL_KERNEL_NUM_ARGS && code == CL_SUCCESS && value != nullptr) {
    ++*static_cast<cl_uint *>(value);
  }
  return code;
}

cl_int CL_API_CALL suggest_local_size(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                      const std::size_t *, const std::size_t *,
                                      std::size_t *suggested) {
  if (const Fault *fault = enter(call_of("clGetKernelSuggestedLocalWorkSizeKHR", kernel))) {
    return fault->code;
  }
  const std::string &bytes = device_of(queue)->script->suggested;
  if (bytes.empty()) return CL_INVALID_OPERATION;
  std::memcpy(suggested, bytes.data(), dimensions * sizeof(std::size_t));
  return CL_SUCCESS;
}

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const std::size_t *offset, const std::size_t *global,
                                  const std::size_t *local, cl_uint wait_count,
                                  const cl_event *wait_list, cl_event *event) {
  const Fault *fault = enter(call_of("clEnqueueNDRangeKernel", kernel));
  if (fault != nullptr && fault->action != Action::skip) return fault->code;
  const Program *program = state_of(kernel).program;
  const bool skip = fault != nullptr || (program != nullptr && program->wrong);
  const cl_icd_dispatch *real = real_driver()->table;
  const cl_int code = skip ? real->clEnqueueMarkerWithWaitList(queue, wait_count, wait_list, event)
                           : real->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
                                                          local, wait_count, wait_list, event);
  if (code == CL_SUCCESS && event != nullptr) stamp(*event);
  if (code == CL_SUCCESS) print(queue);
  return code;
}

}  // namespace kiln::driver

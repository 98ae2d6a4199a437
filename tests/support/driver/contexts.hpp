// SPDX-License-Identifier: Apache-2.0
// Contexts, queues and kernels: the real driver's objects, which remember the application's
// devices and programs.
#pragma once

#include "tests/support/driver/objects.hpp"

namespace kiln::driver {

// Gives the device's `prints` to the callback of cl_arm_printf that the queue's context has.
void print(cl_command_queue queue);

using ContextNotify = void(CL_CALLBACK *)(const char *, const void *, std::size_t, void *);

cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                      const cl_device_id *ids, ContextNotify notify, void *data,
                                      cl_int *code_ret);
cl_context CL_API_CALL create_context_from_type(const cl_context_properties *properties,
                                                cl_device_type type, ContextNotify notify,
                                                void *data, cl_int *code_ret);
cl_int CL_API_CALL get_context_info(cl_context context, cl_context_info query, std::size_t size,
                                    void *value, std::size_t *size_ret);
cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                          cl_command_queue_properties properties, cl_int *code_ret);
cl_command_queue CL_API_CALL create_queue_with_properties(cl_context context, cl_device_id device,
                                                          const cl_queue_properties *properties,
                                                          cl_int *code_ret);
cl_int CL_API_CALL get_queue_info(cl_command_queue queue, cl_command_queue_info query,
                                  std::size_t size, void *value, std::size_t *size_ret);

cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *code_ret);
cl_int CL_API_CALL create_kernels(cl_program program, cl_uint entries, cl_kernel *kernels,
                                  cl_uint *count);
cl_kernel CL_API_CALL clone_kernel(cl_kernel kernel, cl_int *code_ret);
cl_int CL_API_CALL get_kernel_info(cl_kernel kernel, cl_kernel_info query, std::size_t size,
                                   void *value, std::size_t *size_ret);
cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const std::size_t *offset, const std::size_t *global,
                                  const std::size_t *local, cl_uint wait_count,
                                  const cl_event *wait_list, cl_event *event);

// Of cl_khr_suggested_local_work_size; an extension's function is in no dispatch table.
cl_int CL_API_CALL suggest_local_size(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                      const std::size_t *offset, const std::size_t *global,
                                      std::size_t *suggested);

// Writes the code where the caller wants it, and returns the object.
template <typename Object>
Object done(Object object, cl_int code, cl_int *code_ret) {
  if (code_ret != nullptr) *code_ret = code;
  return object;
}

}  // namespace kiln::driver

// SPDX-License-Identifier: Apache-2.0
// Platforms and devices, and what they say of themselves.
#pragma once

#include "tests/support/driver/objects.hpp"

namespace kiln::driver {

cl_int CL_API_CALL get_platform_ids(cl_uint entries, cl_platform_id *ids, cl_uint *count);
cl_int CL_API_CALL get_platform_info(cl_platform_id id, cl_platform_info query, std::size_t size,
                                     void *value, std::size_t *size_ret);
cl_int CL_API_CALL get_device_ids(cl_platform_id id, cl_device_type type, cl_uint entries,
                                  cl_device_id *ids, cl_uint *count);
cl_int CL_API_CALL get_device_info(cl_device_id id, cl_device_info query, std::size_t size,
                                   void *value, std::size_t *size_ret);
cl_int CL_API_CALL retain_device(cl_device_id device);
cl_int CL_API_CALL release_device(cl_device_id device);

}  // namespace kiln::driver

// SPDX-License-Identifier: Apache-2.0
// The table of entry points, by which the loader calls this driver.
#pragma once

#include <string>

#include "tests/support/driver/opencl.hpp"

namespace kiln::driver {

const cl_icd_dispatch *dispatch_table();

// True for each function that a script can name: those of the table, and
// clCreateProgramWithILKHR.
bool is_entry_point(const std::string &name);

}  // namespace kiln::driver

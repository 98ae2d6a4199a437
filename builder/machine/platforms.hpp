// SPDX-License-Identifier: Apache-2.0
// The drivers that are installed on this machine and the platforms that they give, with the reasons
// why there are no devices.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

// A driver, as the ICD loader finds it.
struct Driver {
  std::string file;     // the .icd file
  std::string library;  // what the file names
  Status status;        // why it cannot be loaded: Code::bad_input or Code::no_opencl
};

// Returns the drivers of OCL_ICD_VENDORS, or of /etc/OpenCL/vendors, sorted by file. Loads each in
// a child process of its own.
std::vector<Driver> installed_drivers();

// Returns the libraries that these files name, without loading them.
std::vector<std::string> driver_libraries();

struct Platform {
  std::string name;
  std::string version;
  std::size_t devices = 0;
  std::string why_none;  // what the driver answered, if there are no devices
};

// Lists the platforms in a child process, in the ICD loader's order. Fails as list_devices() does.
Result<std::vector<Platform>> list_platforms();

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Intel's own driver, told to be a GPU that is not there: where it lies, what it knows, and jobs
// that it does as that GPU.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "builder/device/device_info.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/run_tool.hpp"

namespace kiln::builder {

// The names of Intel's GPUs; a driver knows some of them.
const std::vector<std::string> &neo_products();

struct NeoDriver {
  std::filesystem::path library;
  std::vector<std::string> products;  // those that it knows
  // Of a driver in a root, else empty: where its libraries are, and the dynamic loader of the root,
  // if its C library is later than that of this process.
  std::vector<std::filesystem::path> folders{};
  std::filesystem::path loader{};
};

// The drivers of Intel's GPUs that the ICD files of an unpacked root name, in the order of their
// files; with an empty root those of this machine. Fails with Code::bad_argument where `root` is no
// folder or cannot be passed on, and with Code::no_device where it has none that runs here.
Result<std::vector<NeoDriver>> find_neo_drivers(const std::filesystem::path &root);

// The GPU of that name with its driver, which is the first of `drivers` that knows it. The driver
// reads once in a process which GPU to be, and needs its own libraries, so each job is a `kiln
// build` of one variant in that environment. Fails with Code::no_device where no driver knows it,
// and where the driver dies or reports another number of devices than one.
Result<DeviceInfo> neo_device(const std::vector<NeoDriver> &drivers, const std::string &product);

// A folder with what makes one driver the only one of a process. Immutable.
class NeoPlace {
 public:
  // Fails with Code::failed.
  static Result<NeoPlace> make(const NeoDriver &driver);

  // This program with the driver as that product.
  ProcessRequest request(const std::string &product, std::vector<std::string> arguments) const;

 private:
  NeoPlace(NeoDriver driver, TemporaryFolder folder)
      : driver_(std::move(driver)), folder_(std::move(folder)) {}

  NeoDriver driver_;
  TemporaryFolder folder_;
};

// The version of a C library, 2031 for 2.31, by the text that is in the file; 0 if there is none.
// Pure.
unsigned glibc_version(std::string_view file);

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Intel's own driver, told to be a GPU that is not there: finds drivers, lists the GPUs they know,
// and runs jobs as such a GPU.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "builder/machine/device_info.hpp"
#include "builder/process/run_tool.hpp"
#include "builder/process/temporary_folder.hpp"

namespace kiln::builder {

// Returns the names of Intel's GPUs; a driver knows some of them.
const std::vector<std::string> &neo_products();

struct NeoDriver {
  std::filesystem::path library;
  std::vector<std::string> products;  // products that the driver knows
  // For a driver in a root, else empty: the folders of its libraries, and the dynamic loader of the
  // root if the root's C library is later than this process's.
  std::vector<std::filesystem::path> folders{};
  std::filesystem::path loader{};
};

// Returns the drivers of Intel's GPUs that the ICD files of an unpacked root name, in the order of
// the files; an empty root means this machine. Fails with Code::bad_argument if `root` is no folder
// or cannot be passed on, and with Code::no_device if it has no driver that runs here.
Result<std::vector<NeoDriver>> find_neo_drivers(const std::filesystem::path &root);

// Returns the GPU of that name, with the first of `drivers` that knows it. The driver reads only
// once in a process which GPU to be, and needs its own libraries, so each job is a `kiln build` of
// one variant in that environment. Fails with Code::no_device if no driver knows the GPU, or if the
// driver dies or does not report exactly one device.
Result<DeviceInfo> neo_device(const std::vector<NeoDriver> &drivers, const std::string &product);

// A folder with the files that make one driver the only one of a process. Immutable.
class NeoPlace {
 public:
  // Makes the folder. Fails with Code::failed.
  static Result<NeoPlace> make(const NeoDriver &driver);

  // Returns a request for this program with the driver as that product.
  ProcessRequest request(const std::string &product, std::vector<std::string> arguments) const;

 private:
  NeoPlace(NeoDriver driver, TemporaryFolder folder)
      : driver_(std::move(driver)), folder_(std::move(folder)) {}

  NeoDriver driver_;
  TemporaryFolder folder_;
};

}  // namespace kiln::builder

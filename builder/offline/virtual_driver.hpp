// SPDX-License-Identifier: Apache-2.0
// A vendor's own driver that is told to be a GPU which is not there: where it lies, what it knows,
// and what it takes to run it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "builder/process/fork_call.hpp"
#include "builder/process/run_tool.hpp"

namespace kiln::builder {

// The products of "neo:skl,tgllp". Fails with Code::bad_argument unless it is neo:PRODUCT,... with
// names of Intel's products; the message lists them, and says which is the nearest.
Result<std::vector<std::string>> parse_virtual_spec(const std::string &text);

struct VirtualDriver {
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
Result<std::vector<VirtualDriver>> find_virtual_drivers(const std::filesystem::path &root);

// A folder with what makes one driver the only one of a process. Immutable.
class VirtualPlace {
 public:
  // Fails with Code::failed.
  static Result<VirtualPlace> make(const VirtualDriver &driver);

  // This program with the driver as that product.
  ProcessRequest request(const std::string &product, std::vector<std::string> arguments) const;

 private:
  VirtualPlace(VirtualDriver driver, TemporaryFolder folder)
      : driver_(std::move(driver)), folder_(std::move(folder)) {}

  VirtualDriver driver_;
  TemporaryFolder folder_;
};

// The version of a C library, 2031 for 2.31, by the text that is in the file; 0 if there is none.
// Pure.
unsigned glibc_version(std::string_view file);

}  // namespace kiln::builder

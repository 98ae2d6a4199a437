// SPDX-License-Identifier: Apache-2.0
// A child that is called once, and folders for what it leaves.
#include "builder/process/fork_call.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace kiln::builder {

ChildResult fork_call(const std::function<nlohmann::json()> &work,
                      std::chrono::milliseconds timeout) {
  ServingChild child([&](const nlohmann::json &) { return work(); });
  return child.call({}, {timeout});
}

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code error;
  const std::string name = (std::filesystem::temp_directory_path(error) / "kiln-XXXXXX").string();
  std::string made = name;
  if (!error && mkdtemp(made.data()) == nullptr) error = {errno, std::generic_category()};
  if (!error) return TemporaryFolder(made);
  return Status(Code::failed, "cannot make the folder " + name + ": " + error.message());
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace kiln::builder

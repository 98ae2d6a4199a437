// SPDX-License-Identifier: Apache-2.0
// The scripted test driver in a folder of its own, with its script and ICD file. Its scripts are
// described in driver/README.md.
//
// The driver is loaded in child processes only: run() forks, sets the environment there and
// calls the work, so that each call is a fresh start of an application on this device.
#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/process/fork_call.hpp"
#include "builder/process/temporary_folder.hpp"
#include "tests/support/temporary_folder.hpp"

namespace kiln::test {

class ScriptedDriver {
 public:
  using Environment = std::vector<std::pair<std::string, std::optional<std::string>>>;

  // "{folder}" in a script stands for the folder's path.
  explicit ScriptedDriver(std::string_view script) {
    folder_.write("icd/kiln_test_driver.icd", KILN_TEST_DRIVER_LIBRARY "\n");
    std::filesystem::create_directories(path("pocl_cache"));
    rewrite(script);
  }

  // What the next process finds: an update of the driver, of the system, of the device.
  void rewrite(std::string_view script) const {
    std::string text(script);
    constexpr std::string_view kFolder = "{folder}";
    for (auto at = text.find(kFolder); at != std::string::npos; at = text.find(kFolder, at)) {
      text.replace(at, kFolder.size(), folder_.path().string());
    }
    folder_.write("script.toml", text);
  }

  std::string path(const std::string &name) const { return (folder_.path() / name).string(); }
  const TemporaryFolder &folder() const { return folder_; }

  // For a process that is to see this driver and no other. PoCL's cache is this folder's own,
  // unless the test's environment names one: then what was compiled once stays fast, also in
  // builds, whose caches begin with its programs.
  Environment environment() const {
    const char *named = std::getenv("POCL_CACHE_DIR");
    const std::string cache = named != nullptr ? named : path("pocl_cache");
    return {{"OCL_ICD_VENDORS", path("icd")},
            {"KILN_TEST_DRIVER", path("script.toml")},
            {"POCL_CACHE_DIR", cache},
            {"KILN_LISTED_CACHES", programs_of(cache)},
            {"OPENCL_LAYERS", std::nullopt}};
  }

  // Sets the environment of this process, for its children; it must not load OpenCL itself.
  void use() const {
    for (const auto &[name, value] : environment()) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }

  builder::ChildResult run(const std::function<nlohmann::json()> &work,
                           std::chrono::milliseconds timeout = std::chrono::seconds(60)) const {
    return builder::fork_call(
        [&] {
          use();
          return work();
        },
        timeout);
  }

  // How often the function was called by all processes, of a script with
  // log = "{folder}/calls".
  std::size_t calls(const std::string &function) const {
    std::ifstream file(path("calls"));
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.find(" " + function + " ") != std::string::npos) ++count;
    }
    return count;
  }

 private:
  // A folder with the programs of PoCL's cache, without the code of launches, which a build makes.
  std::string programs_of(const std::filesystem::path &cache) const {
    std::filesystem::path folder = folder_.path() / "programs";
    std::error_code ignored;
    for (const auto &part : std::filesystem::directory_iterator(cache, ignored)) {
      for (const auto &program : std::filesystem::directory_iterator(part, ignored)) {
        const auto copy = folder / part.path().filename() / program.path().filename();
        std::filesystem::create_directories(copy, ignored);
        std::filesystem::copy_file(program.path() / "program.bc", copy / "program.bc", ignored);
      }
    }
    return folder.string();
  }

  TemporaryFolder folder_;
};

}  // namespace kiln::test

// SPDX-License-Identifier: Apache-2.0
// A compiler that the user describes in a file: its command, and the device that it serves.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/device/device_info.hpp"

namespace kiln::builder {

struct CompilerDescription {
  std::string name;                  // of the target
  std::string recipe;                // as VirtualDevice has it
  std::string driver;                // the same
  bool takes_il = false;             // or source
  std::vector<std::string> command;  // the program and its arguments, with placeholders
  std::vector<std::pair<std::string, std::string>> environment;
  DeviceInfo info;  // without a compiler
};

// docs/virtual.md has the keys. Fails with Code::bad_input; the message has file, line and column.
Result<CompilerDescription> parse_description(std::string_view text,
                                              const std::filesystem::path &path);

// The arguments of one compilation: {input} and {output} are the files' names, an argument that is
// {options} becomes the words of the build options.
std::vector<std::string> described_arguments(const std::vector<std::string> &command,
                                             std::string_view input, std::string_view output,
                                             const std::vector<std::string> &options);

// The device that the file describes. Fails as parse_description() does, and with Code::not_found
// where the file or the program is not there.
Result<DeviceInfo> described_device(const std::filesystem::path &path);

}  // namespace kiln::builder

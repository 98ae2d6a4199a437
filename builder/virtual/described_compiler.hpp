// SPDX-License-Identifier: Apache-2.0
// A compiler that a file describes: its command, and the devices that it serves.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/machine/device_info.hpp"

namespace kiln::builder {

struct CompilerDescription {
  std::string name;                  // of the target
  std::string finisher;              // as in VirtualDevice
  std::string driver;                // as in VirtualDevice
  bool takes_il = false;             // false: it takes source
  std::vector<std::string> command;  // the program and its arguments, with placeholders
  std::vector<std::string> quiet;    // arguments that hide why a compilation failed
  std::vector<std::pair<std::string, std::string>> environment;
  DeviceInfo info;  // without a compiler
};

// Runs a command of [ask] and returns its output.
using Ask = std::function<Result<std::string>(const std::vector<std::string> &command)>;

// Parses a description; docs/operate/virtual.md lists the keys. `model` is empty for a file that
// describes one device. Fails with Code::bad_input and a message with file, line and column, and as
// `ask` does.
Result<CompilerDescription> parse_description(std::string_view text,
                                              const std::filesystem::path &path,
                                              const std::string &model, const Ask &ask);

// The words of a variant's build options, and the whole text.
struct DescribedOptions {
  std::vector<std::string> words;
  std::string text;
};
// Returns the arguments of one compilation: {input} and {output} become the files' names, an
// argument {options} becomes the words of the build options, and {option_text} becomes their text.
std::vector<std::string> described_arguments(const std::vector<std::string> &command,
                                             std::string_view input, std::string_view output,
                                             const DescribedOptions &options);

// Returns the device that the file describes. Fails as parse_description() does, with
// Code::not_found if the file or a program does not exist, and with Code::process if a command of
// [ask] fails.
Result<DeviceInfo> described_device(const std::filesystem::path &path, const std::string &model);

}  // namespace kiln::builder

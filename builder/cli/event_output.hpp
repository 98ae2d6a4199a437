// SPDX-License-Identifier: Apache-2.0
// Events of a command, a line of JSON each, for programs that watch it.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"

namespace kiln::cli {

class EventOutput {
 public:
  // "-" is standard output, and "" nowhere; a file is emptied. Fails with Code::failed.
  builder::Status open(const std::string &path);

  // Whoever reads has the line at once. What cannot be written is told once, on standard error;
  // a command goes on all the same.
  void write(const nlohmann::json &event);

 private:
  bool is_standard_output() const { return path_ == "-"; }

  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file_{nullptr, std::fclose};
};

}  // namespace kiln::cli

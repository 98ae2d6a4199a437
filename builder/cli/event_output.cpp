// SPDX-License-Identifier: Apache-2.0
// Opens the file, and flushes it after each line.
#include "builder/cli/event_output.hpp"

#include <cerrno>
#include <cstring>

#include "builder/cli/common.hpp"

namespace kiln::cli {

Status EventOutput::open(const std::string &path) {
  path_ = path;
  if (path.empty() || is_standard_output()) return {};
  file_.reset(std::fopen(path.c_str(), "we"));  // close-on-exec
  return file_ ? Status() : Status(Code::failed, path + ": " + std::strerror(errno));
}

void EventOutput::write(const nlohmann::json &event) {
  const std::string line =
      event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (is_standard_output()) {
    print_as_is(line);
    std::fflush(stdout);  // end_output() tells what failed
    return;
  }
  if (!file_) return;
  const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size();
  if (written && std::fflush(file_.get()) == 0) return;
  complain(path_ + ": no more events: " + std::strerror(errno));
  file_.reset();
}

}  // namespace kiln::cli

// SPDX-License-Identifier: Apache-2.0
// Leaves variables out of the environment, and clears the progress line on an interrupt.
#include "builder/cli/shared/supervised.hpp"

#include <cstdlib>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "builder/cli/shared/common.hpp"
#include "builder/process/supervise.hpp"
#include "runtime/source/driver_variables.hpp"

namespace kiln::cli {

Status leave_out_driver_variables() {
  // The stepping of an Intel GPU that is not there, as builder/virtual/neo.cpp sets it.
  constexpr std::string_view kStepping = "OverrideRevision=";
  while (true) {
    std::vector<const char *> variables;
    for (char **one = environ; one != nullptr && *one != nullptr; ++one) {
      if (!std::string_view(*one).starts_with(kStepping)) variables.push_back(*one);
    }
    variables.push_back(nullptr);
    const std::string name(source::variable_that_changes_code("", variables.data()));
    if (name.empty()) return {};
    if (std::getenv(name.c_str()) == nullptr) {
      return {Code::bad_argument,
              name + " in this folder changes what a driver compiles: unset NEOReadDebugKeys"};
    }
    complain(name + " would change what a driver compiles: it is left out");
    unsetenv(name.c_str());
  }
}

void supervise_command(const std::string &text) {
  builder::supervise([text] {
    clear_progress();
    if (!text.empty()) complain(text);
  });
}

}  // namespace kiln::cli

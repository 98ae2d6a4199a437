// SPDX-License-Identifier: Apache-2.0
// What people see of an interrupt.
#include "builder/cli/supervised.hpp"

#include "builder/cli/common.hpp"
#include "builder/process/supervise.hpp"

namespace kiln::cli {

void supervise_command(const std::string &text) {
  builder::supervise([text] {
    clear_progress();
    if (!text.empty()) complain(text);
  });
}

}  // namespace kiln::cli

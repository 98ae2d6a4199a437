// SPDX-License-Identifier: Apache-2.0
// One record of the process, in which all threads look.
#include "runtime/layer/serve/seen_variables.hpp"

#include <mutex>

#include "runtime/layer/base/process.hpp"
#include "runtime/source/driver_variables.hpp"

namespace kiln::layer {
namespace {

struct Guarded {
  std::mutex mutex;
  source::SeenVariables variables;  // guarded by `mutex`
};

// Never destroyed, since an application's statics may build programs.
Guarded &seen() {
  static Guarded &all = *new Guarded;
  return all;
}

}  // namespace

void see_variables() {
  const std::lock_guard<std::mutex> lock(seen().mutex);
  seen().variables.see(all_variables());
}

std::string seen_variable(std::string_view profile) {
  const std::lock_guard<std::mutex> lock(seen().mutex);
  return std::string(seen().variables.found(profile, all_variables()));
}

}  // namespace kiln::layer

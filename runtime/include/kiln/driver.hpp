// SPDX-License-Identifier: Apache-2.0
/// @file
/// C++17 over driver.h: requests to a driver besides loading and launching.
#pragma once

#include "kiln/driver.h"
#include "kiln/kiln.hpp"

namespace kiln {

/// See kiln_loader_unload_compiler().
inline Result<kiln_unload> unload_compiler(const Loader &loader) {
  kiln_unload done{};
  kiln_error error{};
  if (kiln_loader_unload_compiler(loader.get(), &done, &error) != KILN_OK) return error;
  return done;
}

/// See kiln_loader_set_performance().
inline Status set_performance(const Loader &loader, kiln_level level) {
  return detail::call(
      [&](kiln_error *error) { kiln_loader_set_performance(loader.get(), level, error); });
}

/// See kiln_device_timers().
inline Result<kiln_timers> timers(const Device &device) {
  kiln_timers now{};
  kiln_error error{};
  if (kiln_device_timers(device.get(), &now, &error) != KILN_OK) return error;
  return now;
}

}  // namespace kiln

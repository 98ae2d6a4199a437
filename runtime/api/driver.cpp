// SPDX-License-Identifier: Apache-2.0
// The C API: what a driver is asked besides loading and launching.
#include "kiln/driver.h"

#include "runtime/api/api.hpp"
#include "runtime/api/options.hpp"
#include "runtime/load/unload.hpp"

using namespace kiln::runtime;

kiln_status kiln_loader_unload_compiler(kiln_loader *loader, kiln_unload *out, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr && out != nullptr, error);
  const std::optional<bool> compiled = loader->programs.has_compiled();
  if (!compiled.value_or(false)) {
    *out = compiled ? KILN_UNLOAD_NOT_NEEDED : KILN_UNLOAD_BUSY;
    return KILN_OK;
  }
  return report_error(unload_compiler(*loader->loader, out), error);
}

kiln_status kiln_loader_set_performance(kiln_loader *loader, kiln_level level, kiln_error *error) {
  KILN_REQUIRE(loader != nullptr, error);
  if (!known_levels(level, level) || level == KILN_LEVEL_DEFAULT) {
    return report_error(Status::error(Code::bad_argument, "a level is low, medium or high"), error);
  }
  const Loader &of = *loader->loader;
  return report_error(set_performance(*of.device->cl, of.device->platform, of.device->capabilities,
                                      of.context.get(), level),
                      error);
}

kiln_status kiln_device_timers(kiln_device *device, kiln_timers *out, kiln_error *error) {
  KILN_REQUIRE(device != nullptr && out != nullptr, error);
  cl_ulong at_device = 0;
  cl_ulong at_host = 0;
  if (Status e = read_timers(*device->device, &at_device, &at_host); !e.ok()) {
    return report_error(e, error);
  }
  *out = {at_device, at_host};
  return KILN_OK;
}

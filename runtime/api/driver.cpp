// SPDX-License-Identifier: Apache-2.0
// The C API: requests to a driver besides loading and launching.
#include "kiln/driver.h"

#include "runtime/api/api.hpp"
#include "runtime/api/options.hpp"
#include "runtime/load/build.hpp"

using namespace kiln::runtime;

namespace {

// Names the call in journals; no hash is likely to have the same value.
constexpr DriverTask kUnloading{0x756e6c6f6164434cu};

Status call_driver(const Loader &loader) {
  const Device &device = *loader.device;
  Attempt attempt(loader.persistence.get(), kUnloading, loader.deadline_milliseconds);
  const cl_int code = device.cl->clUnloadPlatformCompiler(device.platform);
  attempt.end(Event::proven);
  loader.compiler_unloaded = true;
  return code == CL_SUCCESS ? Status() : cl_failure("clUnloadPlatformCompiler", code);
}

// Returns what prevents the call, or KILN_UNLOAD_CALLED, before anything is locked.
kiln_unload obstacle(const Loader &loader) {
  const Device &device = *loader.device;
  if (device.cl->clUnloadPlatformCompiler == nullptr ||
      parse_opencl_version(device.identity.text(Field::device_version)) < 102) {
    return KILN_UNLOAD_NO_CALL;
  }
  const bool is_quarantined =
      loader.persistence != nullptr && !loader.persistence->check(kUnloading, kOptional);
  return is_quarantined ? KILN_UNLOAD_QUARANTINED : KILN_UNLOAD_CALLED;
}

// Asks the driver, unless a thread is using the compiler. A marker guards the call until the driver
// has survived it once.
Status unload_compiler(const Loader &loader, kiln_unload *out) {
  *out = obstacle(loader);
  if (*out != KILN_UNLOAD_CALLED) return {};
  Status status;
  {
    const NobodyCompiles nobody_compiles;
    if (!nobody_compiles) {
      *out = KILN_UNLOAD_BUSY;
      return {};
    }
    status = call_driver(loader);
  }
  const bool ok = status.ok();
  notify(loader,
         {KILN_NOTICE_UNLOADED, KILN_RUNG_ERROR, ok ? KILN_OUTCOME_LOADED : KILN_OUTCOME_FAILED, "",
          "", ok ? "clUnloadPlatformCompiler was called" : status.message.c_str(), 0});
  return status;
}

}  // namespace

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

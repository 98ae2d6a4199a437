// SPDX-License-Identifier: Apache-2.0
// Asks behind a marker, while nobody compiles.
#include "runtime/load/unload.hpp"

#include "runtime/load/build.hpp"

namespace kiln::runtime {
namespace {

// Names the call in journals; no hash of anything is likely to be the same.
constexpr BlobUse kUnloading{0x756e6c6f6164434cu, kNoLoad};

Status call_driver(const Loader &loader, Quarantine *guard) {
  const Device &device = *loader.device;
  Guarded guarded(guard, kUnloading, loader.deadline_milliseconds);
  const cl_int code = device.cl->clUnloadPlatformCompiler(device.platform);
  guarded.end(Verdict::proven);
  loader.compiler_unloaded = true;
  return code == CL_SUCCESS ? Status() : cl_failure("clUnloadPlatformCompiler", code);
}

// What keeps from asking, before anything is locked.
kiln_unload obstacle(const Device &device, const Quarantine *guard) {
  if (device.cl->clUnloadPlatformCompiler == nullptr ||
      parse_opencl_version(device.identity.text(Field::device_version)) < 102) {
    return KILN_UNLOAD_NO_CALL;
  }
  if (guard == nullptr) return KILN_UNLOAD_CALLED;
  // One death is enough: nothing is lost where this is left out.
  const History history = guard->history(kUnloading.id);
  return history.deaths != 0 || history.stuck ? KILN_UNLOAD_QUARANTINED : KILN_UNLOAD_CALLED;
}

}  // namespace

Status unload_compiler(const Loader &loader, kiln_unload *out) {
  Quarantine *guard = loader.overlay == nullptr ? nullptr : &loader.overlay->quarantine();
  *out = obstacle(*loader.device, guard);
  if (*out != KILN_UNLOAD_CALLED) return {};
  const NobodyCompiles nobody_compiles;
  if (!nobody_compiles) {
    *out = KILN_UNLOAD_BUSY;
    return {};
  }
  Status status = call_driver(loader, guard);
  const bool ok = status.ok();
  notify(loader,
         {KILN_NOTICE_UNLOADED, KILN_RUNG_ERROR, ok ? KILN_OUTCOME_LOADED : KILN_OUTCOME_FAILED, "",
          "", ok ? "clUnloadPlatformCompiler was called" : status.message.c_str(), 0});
  return status;
}

}  // namespace kiln::runtime

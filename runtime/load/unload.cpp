// SPDX-License-Identifier: Apache-2.0
// A lock for the whole process stands between compiling and unloading: the compiler is one for all
// loaders of a platform.
#include "runtime/load/unload.hpp"

#include <pthread.h>

namespace kiln::runtime {
namespace {

// Not a std::shared_mutex: with some standard libraries a global one has a destructor.
pthread_rwlock_t compiler = PTHREAD_RWLOCK_INITIALIZER;

// Names the call in journals; no hash of anything is likely to be the same.
constexpr BlobUse kUnloading{0x756e6c6f6164434cu, kNoLoad};

Status call_driver(const Loader &loader, Quarantine *guard) {
  const Device &device = *loader.device;
  const bool mark = guard != nullptr && guard->fate(kUnloading.id) != Verdict::proven;
  int no_marker = 0;
  const int slot = mark ? guard->begin(kUnloading, loader.deadline_milliseconds, &no_marker) : -1;
  const cl_int code = device.cl->clUnloadPlatformCompiler(device.platform);
  if (mark) guard->end(slot, kUnloading, Verdict::proven);
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

UsingCompiler::UsingCompiler() { pthread_rwlock_rdlock(&compiler); }
UsingCompiler::~UsingCompiler() { pthread_rwlock_unlock(&compiler); }

bool has_compiled(const Report &report) {
  const bool by_rung = report.rung == KILN_RUNG_IL || report.rung == KILN_RUNG_SOURCE ||
                       report.rung == KILN_RUNG_INTERMEDIATE;
  if (by_rung || report.final == KILN_FINAL_NO || report.recompiled.value_or(false)) return true;
  for (const RungResult &tried : report.rungs) {
    if (tried.outcome == KILN_OUTCOME_FAILED &&
        (tried.rung == KILN_RUNG_IL || tried.rung == KILN_RUNG_SOURCE)) {
      return true;
    }
  }
  return false;
}

Status unload_compiler(const Loader &loader, kiln_unload *out) {
  Quarantine *guard = loader.overlay == nullptr ? nullptr : &loader.overlay->quarantine();
  *out = obstacle(*loader.device, guard);
  if (*out != KILN_UNLOAD_CALLED) return {};
  if (pthread_rwlock_trywrlock(&compiler) != 0) {
    *out = KILN_UNLOAD_BUSY;
    return {};
  }
  Status status = call_driver(loader, guard);
  pthread_rwlock_unlock(&compiler);
  const bool ok = status.ok();
  notify(loader,
         {KILN_NOTICE_UNLOADED, KILN_RUNG_ERROR, ok ? KILN_OUTCOME_LOADED : KILN_OUTCOME_FAILED, "",
          "", ok ? "clUnloadPlatformCompiler was called" : status.message.c_str(), 0});
  return status;
}

}  // namespace kiln::runtime

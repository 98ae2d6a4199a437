// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1 for tests: the functions that runtime/overlay/cuda_linker.cpp calls. Its linker
// makes a cubin of PTX as the scripted driver writes it (shapes.hpp), and does what KILN_FAKE_CUDA
// says, words separated by commas, which are read anew at each call:
//
//   no_device      cuInit says CUDA_ERROR_NO_DEVICE
//   refuse         the linker refuses the PTX, with a log
//   segv abort exit hang
//                  the process dies in the linker (exit with code 1), or the call never returns
//   later          these happen in cuLinkComplete, not in cuLinkAddData_v2
//   empty null     success and a cubin of no bytes, or none at all
//   garbage        success and bytes that are no ELF file
//   other_machine  success and an ELF file of another machine
//   huge           success and a cubin of which the size is one byte too many for a pack
//   warn           success, and a log
//   NAME=CODE      the function of that name returns the code, up to 9999: cuDeviceGet=101
//   log=PATH       each call appends "PID NAME - -" to that file, as the scripted driver's log
//
// Compiled with KILN_FAKE_CUDA_OLD it has no cuLinkComplete, with KILN_FAKE_CUDA_10 the first
// cuDevicePrimaryCtxRelease in place of the second. Calls out of order are refused as CUDA does it,
// and cuLinkDestroy overwrites the cubin.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "tests/support/cuda/shapes.hpp"
#include "tests/support/nowhere.hpp"

#define KILN_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

enum : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kInvalidPtx = 218,
};

struct Name {
  int code;
  const char *name;
};
constexpr Name kCodeNames[] = {{kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
                               {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                               {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED"},
                               {kNoDevice, "CUDA_ERROR_NO_DEVICE"},
                               {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE"},
                               {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
                               {kInvalidPtx, "CUDA_ERROR_INVALID_PTX"},
                               {999, "CUDA_ERROR_UNKNOWN"}};

std::mutex g_mutex;
bool g_initialised = false;
int g_retained = 0;
int g_primary;  // its address is the context
thread_local std::vector<void *> t_current;

struct Link {
  unsigned target = 0;
  char *log = nullptr;
  std::size_t log_size = 0;
  void **log_filled = nullptr;
  std::string cubin;
};

// The script's words.
std::vector<std::string> words() {
  const char *script = std::getenv("KILN_FAKE_CUDA");
  std::vector<std::string> all(1);
  for (const char *c = script == nullptr ? "" : script; *c != '\0'; ++c) {
    if (*c == ',') {
      all.emplace_back();
    } else {
      all.back() += *c;
    }
  }
  return all;
}

bool has(const std::string &word) {
  for (const std::string &one : words()) {
    if (one == word) return true;
  }
  return false;
}

// What stands behind "KEY=", or nothing.
std::optional<std::string> value_of(const std::string &key) {
  for (const std::string &one : words()) {
    if (one.compare(0, key.size() + 1, key + "=") == 0) return one.substr(key.size() + 1);
  }
  return std::nullopt;
}

// At the start of each function: the log, and the code that the script has for it.
int enter(const char *function) {
  if (const auto path = value_of("log")) {
    const int file = open(path->c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0644);
    const std::string line = std::to_string(getpid()) + " " + function + " - -\n";
    if (file < 0 || write(file, line.data(), line.size()) < 0) _exit(120);
    close(file);
  }
  const auto code = value_of(function);
  return code ? static_cast<int>(kiln::shapes::parse_number(*code).value_or(999)) : kSuccess;
}

void maybe_die() {
  if (has("segv")) kiln::test::write_to_nowhere();
  if (has("abort")) std::abort();
  if (has("exit")) _exit(1);
  while (has("hang")) pause();
}

int say(Link *link, int code, const std::string &text) {
  if (link->log == nullptr || link->log_size == 0) return code;
  const std::size_t length = std::min(text.size(), link->log_size - 1);
  std::memcpy(link->log, text.data(), length);
  link->log[length] = '\0';
  if (link->log_filled != nullptr) {
    *link->log_filled = reinterpret_cast<void *>(static_cast<std::uintptr_t>(length + 1));
  }
  return code;
}

// What the script has for the linker's work, in the one of two functions where it says so.
int misbehave(Link *link, bool later) {
  if (has("later") != later) return kSuccess;
  maybe_die();
  if (!has("refuse")) return kSuccess;
  return say(link, kInvalidPtx,
             "ptxas application ptx input, line 7; fatal   : Parsing error near 'scripted'\n"
             "ptxas fatal   : Ptx assembly aborted due to errors\n");
}

int compile(Link *link, const char *text) {
  const auto ptx = kiln::shapes::read_ptx(text);
  if (!ptx) return say(link, kInvalidPtx, "ptxas fatal   : not as the scripted driver writes it\n");
  if (link->target == 0) link->target = ptx->target;
  if (link->target < ptx->target) {
    return say(link, kInvalidPtx,
               "ptxas fatal   : SM version specified by .target is higher than default SM version "
               "assumed\n");
  }
  link->cubin = kiln::shapes::cubin_of(link->target, ptx->payload);
  if (has("warn")) say(link, kSuccess, "ptxas warning : scripted\n");
  return kSuccess;
}

}  // namespace

KILN_EXPORT int cuInit(unsigned flags) {
  if (const int code = enter("cuInit")) return code;
  if (flags != 0) return kInvalidValue;
  if (has("no_device")) return kNoDevice;
  const std::lock_guard<std::mutex> lock(g_mutex);
  g_initialised = true;
  return kSuccess;
}

KILN_EXPORT int cuDriverGetVersion(int *version) {
  if (const int code = enter("cuDriverGetVersion")) return code;
  *version = 13000;
  return kSuccess;
}

KILN_EXPORT int cuGetErrorName(int code, const char **name) {
  if (const int scripted = enter("cuGetErrorName")) return scripted;
  *name = nullptr;
  for (const Name &one : kCodeNames) {
    if (one.code == code) *name = one.name;
  }
  return *name == nullptr ? kInvalidValue : kSuccess;
}

KILN_EXPORT int cuDeviceGet(int *device, int ordinal) {
  if (const int code = enter("cuDeviceGet")) return code;
  const std::lock_guard<std::mutex> lock(g_mutex);
  if (!g_initialised) return kNotInitialized;
  if (ordinal != 0) return kInvalidDevice;
  *device = 0;
  return kSuccess;
}

KILN_EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  if (const int code = enter("cuDevicePrimaryCtxRetain")) return code;
  const std::lock_guard<std::mutex> lock(g_mutex);
  if (!g_initialised) return kNotInitialized;
  if (device != 0) return kInvalidDevice;
  ++g_retained;
  *context = &g_primary;
  return kSuccess;
}

#ifdef KILN_FAKE_CUDA_10
#define cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxRelease
#endif
KILN_EXPORT int cuDevicePrimaryCtxRelease_v2(int) {
  if (const int code = enter("cuDevicePrimaryCtxRelease")) return code;
  const std::lock_guard<std::mutex> lock(g_mutex);
  if (g_retained == 0) return kInvalidContext;
  --g_retained;
  return kSuccess;
}

KILN_EXPORT int cuCtxPushCurrent_v2(void *context) {
  if (const int code = enter("cuCtxPushCurrent_v2")) return code;
  if (context == nullptr) return kInvalidContext;
  t_current.push_back(context);
  return kSuccess;
}

KILN_EXPORT int cuCtxPopCurrent_v2(void **context) {
  if (const int code = enter("cuCtxPopCurrent_v2")) return code;
  if (t_current.empty()) return kInvalidContext;
  if (context != nullptr) *context = t_current.back();
  t_current.pop_back();
  return kSuccess;
}

KILN_EXPORT int cuLinkCreate_v2(unsigned count, int *options, void **values, Link **out) {
  if (const int code = enter("cuLinkCreate_v2")) return code;
  const std::lock_guard<std::mutex> lock(g_mutex);
  if (!g_initialised) return kNotInitialized;
  if (g_retained == 0 || t_current.empty() || t_current.back() != &g_primary) {
    return kInvalidContext;
  }
  auto *link = new Link;
  for (unsigned i = 0; i < count; ++i) {
    const auto number = reinterpret_cast<std::uintptr_t>(values[i]);
    if (options[i] == 5) link->log = static_cast<char *>(values[i]);
    if (options[i] == 6) link->log_size = number;
    if (options[i] == 6) link->log_filled = &values[i];
    if (options[i] == 9) link->target = static_cast<unsigned>(number);
  }
  *out = link;
  return kSuccess;
}

KILN_EXPORT int cuLinkAddData_v2(Link *link, int type, void *data, std::size_t size, const char *,
                                 unsigned, int *, void **) {
  if (const int code = enter("cuLinkAddData_v2")) return code;
  const auto *text = static_cast<const char *>(data);
  if (type != 1 || size == 0 || text[size - 1] != '\0') return kInvalidValue;
  if (const int code = misbehave(link, false)) return code;
  return compile(link, text);
}

#ifndef KILN_FAKE_CUDA_OLD
KILN_EXPORT int cuLinkComplete(Link *link, void **cubin, std::size_t *size) {
  if (const int code = enter("cuLinkComplete")) return code;
  if (const int code = misbehave(link, true)) return code;
  if (has("garbage"))
    link->cubin = "this is no ELF file, although it is as long as the header of one";
  if (has("other_machine")) link->cubin[18] = 62;
  *cubin = has("null") ? nullptr : link->cubin.data();
  *size = has("empty") ? 0 : has("huge") ? (std::size_t{1} << 30) + 1 : link->cubin.size();
  return kSuccess;
}
#endif

KILN_EXPORT int cuLinkDestroy(Link *link) {
  const int code = enter("cuLinkDestroy");
  std::memset(link->cubin.data(), 0xdd, link->cubin.size());
  delete link;
  return code;
}

// SPDX-License-Identifier: Apache-2.0
// Opens NVIDIA's libcuda, finds the functions for linking, and links PTX with them.
#include "runtime/overlay/cuda_linker.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "runtime/opencl/dynamic_library.hpp"
#include "runtime/opencl/library.hpp"

namespace kiln::runtime {
namespace {

#ifdef _WIN32
constexpr char kLibrary[] = "nvcuda.dll";
#else
constexpr char kLibrary[] = "libcuda.so.1";
#endif

constexpr std::size_t kMaxPreamble = 4096;
constexpr std::string_view kBlanks = " \t\r\n\v\f";
constexpr std::string_view kVersion = ".version";

constexpr std::size_t kElfHeaderSize = 64;
constexpr unsigned kElfForCuda = 190;

// The part of CUDA's ABI that is used here; everything in it is older than OpenCL 3.0.
struct Context;
struct Link;
using CudaDevice = int;
constexpr int kSuccess = 0;
constexpr int kInputPtx = 1;
constexpr int kErrorLogBuffer = 5;
constexpr int kErrorLogBufferSize = 6;
constexpr int kTarget = 9;

constexpr std::size_t kLogSize = 16384;

// CUDA's functions in the order of kNames. A function that is not required is null if the library
// lacks it.
struct Cuda {
  int (*init)(unsigned flags);
  int (*device_get)(CudaDevice *out, int ordinal);
  int (*primary_retain)(Context **out, CudaDevice device);
  int (*push_current)(Context *context);
  int (*pop_current)(Context **out);
  int (*link_create)(unsigned count, int *options, void **values, Link **out);
  int (*link_add_data)(Link *link, int type, void *data, std::size_t size, const char *name,
                       unsigned count, int *options, void **values);
  int (*link_complete)(Link *link, void **cubin, std::size_t *size);
  int (*link_destroy)(Link *link);
  int (*primary_release)(CudaDevice device);
  int (*error_name)(int code, const char **out);
  int (*driver_version)(int *out);
};

// All names in one string, each with its NUL: this saves a relocation per name.
constexpr char kNames[] =
    "cuInit\0cuDeviceGet\0cuDevicePrimaryCtxRetain\0cuCtxPushCurrent_v2\0cuCtxPopCurrent_v2\0"
    "cuLinkCreate_v2\0cuLinkAddData_v2\0cuLinkComplete\0cuLinkDestroy\0"
    "cuDevicePrimaryCtxRelease_v2\0cuGetErrorName\0cuDriverGetVersion\0";
constexpr std::size_t kNameCount = sizeof(Cuda) / sizeof(void *);
constexpr std::size_t kRelease = 9;
constexpr std::size_t kRequired = kRelease + 1;
constexpr char kOldRelease[] = "cuDevicePrimaryCtxRelease";

Status load(Cuda *out) {
  void *library = open_library(kLibrary);
  if (library == nullptr) {
    return Status::error(Code::no_opencl, {"no ", kLibrary, ": ", library_error(kLibrary)});
  }
  void *addresses[kNameCount];
  const char *name = kNames;
  for (std::size_t i = 0; i < kNameCount; name += std::strlen(name) + 1, ++i) {
    addresses[i] = library_function(library, name);
    if (addresses[i] == nullptr && i == kRelease)
      addresses[i] = library_function(library, kOldRelease);
    if (addresses[i] == nullptr && i < kRequired) {
      return Status::error(Code::no_opencl, {kLibrary, " has no ", name});
    }
  }
  std::memcpy(static_cast<void *>(out), addresses, sizeof(*out));
  return {};
}

// Returns a text such as "cuInit returned CUDA_ERROR_NO_DEVICE (100)".
std::string call_text(const Cuda &cuda, const char *call, int code) {
  const char *name = nullptr;
  const bool named = cuda.error_name != nullptr && cuda.error_name(code, &name) == kSuccess;
  const std::string number = decimal(static_cast<unsigned>(code));
  if (!named || name == nullptr) return concat({call, " returned ", number});
  return concat({call, " returned ", name, " (", number, ")"});
}

Status call_failure(const Cuda &cuda, const char *call, int code) {
  return Status::error(Code::opencl, call_text(cuda, call, code));
}

// Returns the linker's name, such as "CUDA 13.0's linker".
std::string linker_name(const Cuda &cuda) {
  int version = 0;
  if (cuda.driver_version == nullptr || cuda.driver_version(&version) != kSuccess || version < 0) {
    return "CUDA's linker";
  }
  const auto number = static_cast<unsigned>(version);
  return concat({"CUDA ", decimal(number / 1000), ".", decimal(number % 1000 / 10), "'s linker"});
}

Status refusal(const Cuda &cuda, const char *call, int code, const std::string &log) {
  const std::string first_line = log.substr(0, log.find('\n'));
  return Status::error(Code::opencl,
                       {linker_name(cuda), " refused the PTX: ", call_text(cuda, call, code),
                        first_line.empty() ? "" : ": ", first_line});
}

// Copies the cubin, which belongs to the linker until the linker is destroyed.
Status copy_cubin(const Cuda &cuda, const void *cubin, std::size_t size, packs::Bytes *out) {
  const auto *bytes = static_cast<const std::uint8_t *>(cubin);
  const char *what = nullptr;
  if (bytes == nullptr || size == 0) {
    what = " reported success without a cubin";
  } else if (size > packs::kMaxBlobSize) {
    what = " made a cubin that is too large for a pack";
  } else if (!is_cubin({bytes, size})) {
    what = " made something that is no cubin";
  }
  if (what != nullptr) return Status::error(Code::opencl, {linker_name(cuda), what});
  out->assign(bytes, bytes + size);
  return {};
}

// Links in the current context. `ptx` ends with its NUL. The linker uses the options and the log's
// buffer until it is destroyed.
Status link(const Cuda &cuda, std::string *ptx, std::uint32_t target, packs::Bytes *out,
            std::string *log) {
  std::string buffer(kLogSize, '\0');
  int options[] = {kErrorLogBuffer, kErrorLogBufferSize, kTarget};
  void *values[] = {buffer.data(), reinterpret_cast<void *>(std::uintptr_t{kLogSize}),
                    reinterpret_cast<void *>(std::uintptr_t{target})};
  Link *linker = nullptr;
  int code = cuda.link_create(3, options, values, &linker);
  if (code != kSuccess) return call_failure(cuda, "cuLinkCreate_v2", code);
  const char *call = "cuLinkAddData_v2";
  code = cuda.link_add_data(linker, kInputPtx, ptx->data(), ptx->size() + 1, "kiln", 0, nullptr,
                            nullptr);
  void *cubin = nullptr;
  std::size_t size = 0;
  if (code == kSuccess) {
    call = "cuLinkComplete";
    code = cuda.link_complete(linker, &cubin, &size);
  }
  Status error;
  if (code == kSuccess) error = copy_cubin(cuda, cubin, size, out);
  cuda.link_destroy(linker);
  buffer.resize(strnlen(buffer.data(), buffer.size()));
  if (code != kSuccess) error = refusal(cuda, call, code, buffer);
  if (log != nullptr) log->swap(buffer);
  return error;
}

Status link_in_context(const Cuda &cuda, Context *context, std::string *ptx, std::uint32_t target,
                       packs::Bytes *out, std::string *log) {
  int code = cuda.push_current(context);
  if (code != kSuccess) return call_failure(cuda, "cuCtxPushCurrent_v2", code);
  Status error = link(cuda, ptx, target, out, log);
  Context *popped = nullptr;
  code = cuda.pop_current(&popped);
  if (code == kSuccess || !error.ok()) return error;
  return call_failure(cuda, "cuCtxPopCurrent_v2", code);
}

Status link_on_first_device(const Cuda &cuda, std::string *ptx, std::uint32_t target,
                            packs::Bytes *out, std::string *log) {
  int code = cuda.init(0);
  if (code != kSuccess) return Status::error(Code::no_device, call_text(cuda, "cuInit", code));
  CudaDevice device = 0;
  code = cuda.device_get(&device, 0);
  if (code != kSuccess) return Status::error(Code::no_device, call_text(cuda, "cuDeviceGet", code));
  Context *context = nullptr;
  code = cuda.primary_retain(&context, device);
  if (code != kSuccess) return call_failure(cuda, "cuDevicePrimaryCtxRetain", code);
  Status error = link_in_context(cuda, context, ptx, target, out, log);
  cuda.primary_release(device);
  return error;
}

// Copies the PTX to a string, without the NUL that may end it.
Status copy_ptx(packs::View ptx, std::string *out) {
  if (ptx.size > packs::kMaxBlobSize) {
    return Status::error(Code::bad_argument, "the PTX is too large for a pack");
  }
  if (!is_ptx(ptx)) return Status::error(Code::bad_argument, "this is no PTX");
  while (ptx.data[ptx.size - 1] == 0) --ptx.size;
  if (std::memchr(ptx.data, 0, ptx.size) != nullptr) {
    return Status::error(Code::bad_argument, "the PTX has a NUL inside");
  }
  out->assign(reinterpret_cast<const char *>(ptx.data), ptx.size);
  return {};
}

}  // namespace

bool is_ptx(packs::View bytes) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data),
                        std::min(bytes.size, kMaxPreamble));
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    const std::string_view start = text.substr(0, 2);
    if (start != "//" && start != "/*") break;
    const std::string_view end = start == "//" ? "\n" : "*/";
    const std::size_t at = text.find(end, 2);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + end.size());
  }
  return text.size() > kVersion.size() && text.substr(0, kVersion.size()) == kVersion &&
         kBlanks.find(text[kVersion.size()]) != std::string_view::npos;
}

bool is_cubin(packs::View bytes) {
  constexpr std::uint8_t kStart[] = {0x7f, 'E', 'L', 'F', 2, 1};  // 64 bits, little-endian
  if (bytes.size < kElfHeaderSize) return false;
  const auto u16 = [&](std::size_t at) { return bytes.data[at] | bytes.data[at + 1] << 8u; };
  return std::memcmp(bytes.data, kStart, sizeof(kStart)) == 0 && u16(18) == kElfForCuda &&
         u16(52) == kElfHeaderSize;
}

Status link_cubin(packs::View ptx, std::uint32_t compute_capability, packs::Bytes *out,
                  std::string *log) {
  out->clear();
  if (log != nullptr) log->clear();
  const std::uint32_t major = compute_capability / 100;
  const std::uint32_t minor = compute_capability % 100;
  if (major == 0 || minor > 9) {
    return Status::error(Code::bad_argument,
                         {decimal(compute_capability), " is no compute capability"});
  }
  std::string text;
  if (Status error = copy_ptx(ptx, &text); !error.ok()) return error;
  Cuda cuda{};
  if (Status error = load(&cuda); !error.ok()) return error;
  Status error = link_on_first_device(cuda, &text, major * 10 + minor, out, log);
  if (!error.ok()) out->clear();
  return error;
}

}  // namespace kiln::runtime

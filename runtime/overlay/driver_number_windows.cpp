// SPDX-License-Identifier: Apache-2.0
// For Windows: hashes the driver's strings, the path, size and time of its library, and the
// system's build. The path suffices for the libraries beside it: each version of a driver has a
// folder of its own in the system's driver store.
#include <string>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/files.hpp"
#include "kiln/packs/text.hpp"
#include "packs/base/windows.hpp"
#include "runtime/overlay/driver_number.hpp"

namespace kiln::runtime {
namespace {

// Returns the path of the library with the platform's own functions: the driver behind an ICD
// loader, else the library that Kiln opened. Empty: unknown.
std::string driver_library(const Device &device) {
  void *address = device.cl->clGetExtensionFunctionAddressForPlatform(device.platform,
                                                                      "clIcdGetPlatformIDsKHR");
  if (address == nullptr) address = reinterpret_cast<void *>(device.cl->clBuildProgram);
  HMODULE module = nullptr;
  constexpr DWORD kHow =
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (GetModuleHandleExW(kHow, static_cast<const wchar_t *>(address), &module) == 0) return {};
  wchar_t path[1024];
  const DWORD size = GetModuleFileNameW(module, path, 1024);
  return size == 0 || size == 1024 ? std::string() : packs::narrow(path);
}

// Returns the system's release and build, which manifests and compatibility modes do not change.
std::string system_build() {
  HKEY key = nullptr;
  std::string build;
  if (RegOpenKeyExW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion", 0,
                    KEY_QUERY_VALUE, &key) != ERROR_SUCCESS) {
    return build;
  }
  for (const wchar_t *name : {L"CurrentBuildNumber", L"UBR"}) {
    BYTE value[64];
    DWORD size = sizeof(value);
    if (RegQueryValueExW(key, name, nullptr, nullptr, value, &size) != ERROR_SUCCESS) continue;
    build.append(reinterpret_cast<const char *>(value), size);
  }
  RegCloseKey(key);
  return build;
}

}  // namespace

std::uint64_t driver_number(const Device &device) {
  std::string facts = device.key().text() + device.identity.text(Field::driver_version);
  const std::string library = driver_library(device);
  struct stat info {};
  if (packs::status_at(packs::kWorkingFolder, library.c_str(), &info)) {
    facts += packs::concat({library, packs::hex64(static_cast<std::uint64_t>(info.st_size)),
                            packs::hex64(static_cast<std::uint64_t>(info.st_mtime))});
  }
  facts += system_build();
  return packs::xxh3(facts.data(), facts.size());
}

std::string boot_id() { return {}; }

}  // namespace kiln::runtime

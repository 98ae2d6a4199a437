// SPDX-License-Identifier: Apache-2.0
// Hashes the facts that change with a driver: its strings, the size and time of its file, the
// system.
//
// The feature macro is for dladdr, and must come before the first header.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#ifdef __ANDROID__
#include <sys/system_properties.h>
#endif

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/overlay/driver_number.hpp"
#include "runtime/overlay/private_folder.hpp"

namespace kiln::runtime {
namespace {

void append_file(const char *path, std::string *out) {
  struct stat info {};
  if (path == nullptr || stat(path, &info) != 0) return;
  *out += hex64(static_cast<std::uint64_t>(info.st_size));
  *out += hex64(static_cast<std::uint64_t>(info.st_mtime));
}

// Returns the path of the library with the platform's own functions: the driver behind an ICD
// loader, else the library that Kiln opened.
const char *driver_library(const Device &device) {
  void *address = device.cl->clGetExtensionFunctionAddressForPlatform(device.platform,
                                                                      "clIcdGetPlatformIDsKHR");
  if (address == nullptr) address = reinterpret_cast<void *>(device.cl->clBuildProgram);
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fname : nullptr;
}

}  // namespace

// Appends the files of Intel's compiler. The compiler is a package of its own, which the driver
// opens when it first compiles; its libraries are in the driver's folder or the one above.
void append_intel_compiler(const char *driver, std::string *out) {
  if (driver == nullptr) return;
  std::string folder = driver;
  for (int level = 0; level < 2; ++level) {
    const std::size_t slash = folder.rfind('/');
    if (slash == std::string::npos) return;
    folder.resize(slash);
    for (const char *name : {"libigc.so.1", "libigc.so.2", "libigdfcl.so.1", "libigdfcl.so.2"}) {
      append_file(packs::concat({folder, "/", name}).c_str(), out);
    }
  }
}

// The key is not enough: a driver or one of its libraries may be replaced without a change of any
// string.
std::uint64_t driver_number(const Device &device) {
  std::string facts = device.key().text() + device.identity.text(Field::driver_version);
  append_file(driver_library(device), &facts);
  if (std::string_view(device.description.profile) == "intel")
    append_intel_compiler(driver_library(device), &facts);
#ifdef __ANDROID__
  char fingerprint[PROP_VALUE_MAX] = {};
  __system_property_get("ro.build.fingerprint", fingerprint);
  facts += fingerprint;
#else
  append_file("/etc/ld.so.cache", &facts);  // rewritten whenever a package installs a library
#endif
  utsname system{};
  if (uname(&system) == 0) {
    facts += system.release;
    facts += system.version;
  }
  return packs::xxh3(facts.data(), facts.size());
}

}  // namespace kiln::runtime

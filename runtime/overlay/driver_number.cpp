// SPDX-License-Identifier: Apache-2.0
// Hashes the facts that change with a driver: its strings, the sizes and times of its library and
// of the libraries that it needs, the system.
//
// The feature macro is for dladdr, and must come before the first header.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#ifdef __ANDROID__
#include <sys/system_properties.h>
#endif

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/text.hpp"
#include "runtime/overlay/driver_number.hpp"
#include "runtime/overlay/private_folder.hpp"

namespace kiln::runtime {
namespace {

#ifndef __ANDROID__

// Returns the path of the library with the platform's own functions: the driver behind an ICD
// loader, else the library that Kiln opened.
const char *driver_library(const Device &device) {
  void *address = device.cl->clGetExtensionFunctionAddressForPlatform(device.platform,
                                                                      "clIcdGetPlatformIDsKHR");
  if (address == nullptr) address = reinterpret_cast<void *>(device.cl->clBuildProgram);
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fname : nullptr;
}

// A file that this process has loaded, and the libraries that it needs, as its dynamic section
// names them.
struct LoadedFile {
  std::string name;  // without folders
  std::vector<std::string> needed;
};

std::string base_name(const char *path) {
  const char *slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// A callback of dl_iterate_phdr; `out` is a vector of LoadedFile.
int add_loaded_file(dl_phdr_info *info, std::size_t, void *out) {
  const ElfW(Dyn) *dynamic = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const ElfW(Dyn) *>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
  }
  if (dynamic == nullptr) return 0;
  ElfW(Addr) strings = 0;
  for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
  }
  if (strings == 0) return 0;
  if (strings < info->dlpi_addr) strings += info->dlpi_addr;  // glibc relocates it, musl does not
  LoadedFile file{base_name(info->dlpi_name), {}};
  for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED) {
      file.needed.emplace_back(reinterpret_cast<const char *>(strings + entry->d_un.d_val));
    }
  }
  static_cast<std::vector<LoadedFile> *>(out)->push_back(std::move(file));
  return 0;
}

// Returns the sorted names of the driver's library, of the libraries that it needs, and of those
// that they need.
std::vector<std::string> needed_libraries(const char *driver) {
  std::vector<LoadedFile> loaded;
  dl_iterate_phdr(add_loaded_file, &loaded);
  std::vector<std::string> names = {base_name(driver)};
  const auto add = [&](const std::string &name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (std::size_t next = 0; next < names.size(); ++next) {
    const std::string name = names[next];
    for (const LoadedFile &file : loaded) {
      if (file.name == name) std::for_each(file.needed.begin(), file.needed.end(), add);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Appends name, size and time of each of these files in the driver's folder and the one above.
// Libraries in other folders are left out: where an application brings its own C++ library, the
// driver loads that one, and the driver's number must be the same for all applications.
void append_libraries(const char *driver, const std::vector<std::string> &names, std::string *out) {
  std::string path = driver;
  for (int level = 0; level < 2; ++level) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return;
    path.resize(slash);
    for (const std::string &name : names) {
      struct stat info {};
      if (stat(packs::concat({path, "/", name}).c_str(), &info) != 0) continue;
      *out += packs::concat({name, hex64(static_cast<std::uint64_t>(info.st_size)),
                             hex64(static_cast<std::uint64_t>(info.st_mtime))});
    }
  }
}

#endif

}  // namespace

// The key is not enough: a driver or one of its libraries may be replaced without a change of any
// string.
std::uint64_t driver_number(const Device &device) {
  std::string facts = device.key().text() + device.identity.text(Field::driver_version);
#ifdef __ANDROID__
  char fingerprint[PROP_VALUE_MAX] = {};
  __system_property_get("ro.build.fingerprint", fingerprint);
  facts += fingerprint;
#else
  if (const char *driver = driver_library(device)) {
    std::vector<std::string> names = needed_libraries(driver);
    if (std::string_view(device.description.profile) == "intel") {
      // The compiler is a package of its own, which the driver opens when it first compiles.
      for (const char *name : {"libigc.so.1", "libigc.so.2", "libigdfcl.so.1", "libigdfcl.so.2"}) {
        names.emplace_back(name);
      }
    }
    append_libraries(driver, names, &facts);
  }
#endif
  utsname system{};
  if (uname(&system) == 0) {
    facts += system.release;
    facts += system.version;
  }
  return packs::xxh3(facts.data(), facts.size());
}

std::string boot_id() {
#ifdef __linux__
  const packs::Descriptor file(
      packs::open_at(packs::kWorkingFolder, "/proc/sys/kernel/random/boot_id", O_RDONLY));
  std::uint8_t text[64];
  std::size_t size = sizeof(text);
  if (!file || packs::read_all(file.get(), 0, text, &size) != 0) return {};
  const std::string_view line(reinterpret_cast<const char *>(text), size);
  return std::string(line.substr(0, line.find('\n')));
#else
  return {};
#endif
}

}  // namespace kiln::runtime

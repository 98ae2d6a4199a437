// SPDX-License-Identifier: Apache-2.0
// Opens the first usable library of a list, and looks up every entry point that Kiln calls.
#include "runtime/opencl/library.hpp"

#include <cstring>

#include "kiln/packs/text.hpp"
#include "runtime/opencl/dynamic_library.hpp"

namespace kiln::runtime {
namespace {

using packs::Code;
using packs::concat;
using packs::decimal;
using packs::Status;

// Number of missing names that a message spells out before it only counts.
constexpr std::size_t kNamesSpelledOut = 3;

enum : std::size_t {
#define KILN_OPENCL_INDEX(name) kIndex_##name,
  KILN_OPENCL_REQUIRED(KILN_OPENCL_INDEX) kRequiredCount,
  kBeforeOptional = kRequiredCount - 1,
  KILN_OPENCL_OPTIONAL(KILN_OPENCL_INDEX) kEntryCount
#undef KILN_OPENCL_INDEX
};

// All names in one string, each with its NUL: this saves a relocation per name.
constexpr char kEntryNames[] =
#define KILN_OPENCL_NAME(name) #name "\0"
    KILN_OPENCL_REQUIRED(KILN_OPENCL_NAME) KILN_OPENCL_OPTIONAL(KILN_OPENCL_NAME);
#undef KILN_OPENCL_NAME
static_assert(sizeof(OpenCL) == kEntryCount * sizeof(void *), "the table holds pointers only");

constexpr const char *kDefaultCandidates[] = {
#if defined(__ANDROID__)
    "libOpenCL.so",
    "libOpenCL-pixel.so",
    "libOpenCL-car.so",
    "libGLES_mali.so",
    "libmali.so",
    "libPVROCL.so",
#if defined(__LP64__)
    "/system/vendor/lib64/libOpenCL.so",
    "/vendor/lib64/libOpenCL.so",
    "/system/vendor/lib64/egl/libGLES_mali.so",
#else
    "/system/vendor/lib/libOpenCL.so",
    "/vendor/lib/libOpenCL.so",
    "/system/vendor/lib/egl/libGLES_mali.so",
#endif
#elif defined(__APPLE__)
    "/System/Library/Frameworks/OpenCL.framework/OpenCL",
#elif defined(_WIN32)
    "OpenCL.dll",
#else
    "libOpenCL.so.1",
    "libOpenCL.so",
#endif
};

// An open library, and its function that gives out entry points.
struct Library {
  void *handle = nullptr;
  void *(*pixel_lookup)(const char *name) = nullptr;
};

// POSIX promises that a function's address survives the trip through void *; C++ has no
// portable cast for it.
template <typename Function>
Function as_function(void *address) {
  static_assert(sizeof(Function) == sizeof(address), "a function pointer is an address");
  Function function;
  std::memcpy(&function, &address, sizeof(function));
  return function;
}

void *look_up(void *context, const char *name) {
  const auto *library = static_cast<const Library *>(context);
  if (library->pixel_lookup != nullptr) {
    if (void *address = library->pixel_lookup(name)) return address;
  }
  return library_function(library->handle, name);
}

// Fills `out` from one candidate. Fails with the reason if the candidate cannot be used.
Status try_candidate(const char *name, OpenCL *out) {
  Library library;
  library.handle = open_library(name);
  if (library.handle == nullptr) return Status(Code::no_opencl, library_error(name));
  void *enable = library_function(library.handle, "enableOpenCL");
  void *lookup = library_function(library.handle, "loadOpenCLPointer");
  if (enable != nullptr && lookup != nullptr) {
    as_function<void (*)()>(enable)();
    library.pixel_lookup = as_function<void *(*)(const char *)>(lookup);
  }
  return fill_opencl_table(look_up, &library, out);
}

}  // namespace

Status fill_opencl_table(SymbolLookup lookup, void *context, OpenCL *out) {
  void *addresses[kEntryCount];
  std::string missing;
  std::size_t missing_count = 0;
  const char *name = kEntryNames;
  for (std::size_t i = 0; i < kEntryCount; name += std::strlen(name) + 1, ++i) {
    addresses[i] = lookup(context, name);
    if (addresses[i] != nullptr || i >= kRequiredCount) continue;
    if (++missing_count > kNamesSpelledOut) continue;
    if (!missing.empty()) missing += ", ";
    missing += name;
  }
  if (missing_count > kNamesSpelledOut) {
    missing += concat({" and ", decimal(missing_count - kNamesSpelledOut), " more"});
  }
  if (missing_count != 0) return Status::error(Code::no_opencl, {"lacks ", missing});
  std::memcpy(static_cast<void *>(out), addresses, sizeof(*out));
  return {};
}

LibraryCandidates default_opencl_candidates() {
  return {kDefaultCandidates, sizeof(kDefaultCandidates) / sizeof(kDefaultCandidates[0])};
}

Status load_opencl(const char *const *candidates, std::size_t count, OpenCL *out,
                   std::string *tried) {
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) {
    Status status = try_candidate(candidates[i], out);
    lines += concat({candidates[i], ": ", status.ok() ? "loaded" : status.message, "\n"});
    if (!status.ok()) continue;
    if (tried != nullptr) *tried = std::move(lines);
    return status;
  }
  return Status::error(Code::no_opencl, {"no usable OpenCL library; tried:\n", lines});
}

std::string library_error(const char *name) {
  const char *error = library_fault();
  if (error == nullptr) return "cannot be opened";
  const std::string repeated = concat({name, ": "});
  return std::strncmp(error, repeated.c_str(), repeated.size()) == 0 ? error + repeated.size()
                                                                     : error;
}

decltype(&::clCreateProgramWithIL) create_program_with_il(const OpenCL &cl, cl_platform_id platform,
                                                          const std::string &device_version) {
  if (parse_opencl_version(device_version) >= 201 && cl.clCreateProgramWithIL != nullptr) {
    return cl.clCreateProgramWithIL;
  }
  return extension_function<decltype(&::clCreateProgramWithIL)>(cl, platform,
                                                                "clCreateProgramWithILKHR");
}

unsigned parse_opencl_version(const std::string &text) {
  constexpr char kPrefix[] = "OpenCL ";
  constexpr std::size_t kDigits = sizeof(kPrefix) - 1;
  if (text.compare(0, kDigits, kPrefix) != 0 || text.size() < kDigits + 3) return 0;
  const char major = text[kDigits];
  const char minor = text[kDigits + 2];
  if (major < '1' || major > '9' || text[kDigits + 1] != '.' || minor < '0' || minor > '9') {
    return 0;
  }
  return static_cast<unsigned>(major - '0') * 100 + static_cast<unsigned>(minor - '0');
}

}  // namespace kiln::runtime

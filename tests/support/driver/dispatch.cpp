// SPDX-License-Identifier: Apache-2.0
#include "tests/support/driver/dispatch.hpp"

#include "tests/support/driver/contexts.hpp"
#include "tests/support/driver/entry_points.hpp"
#include "tests/support/driver/forward.hpp"
#include "tests/support/driver/identity.hpp"
#include "tests/support/driver/programs.hpp"

namespace kiln::driver {
namespace {

constexpr char kIlKhr[] = "clCreateProgramWithILKHR";
constexpr char kSuggest[] = "clGetKernelSuggestedLocalWorkSizeKHR";
constexpr char kGetPlatforms[] = "clIcdGetPlatformIDsKHR";

void *CL_API_CALL extension_address(const char *name);
void *CL_API_CALL extension_address_for_platform(cl_platform_id, const char *name) {
  return extension_address(name);
}

cl_icd_dispatch make_table() {
  cl_icd_dispatch table{};
#define KILN_FILL(entry)                                                                      \
  using Forward_##entry = Forward<&cl_icd_dispatch::entry, decltype(cl_icd_dispatch::entry)>; \
  Forward_##entry::name = #entry;                                                             \
  table.entry = Forward_##entry::call;
  KILN_FORWARDED(KILN_FILL)
#undef KILN_FILL
#define KILN_FILL(entry, function) table.entry = function;
  KILN_OWN(KILN_FILL)
#undef KILN_FILL
  return table;
}

// Each entry of the table by name; `place` is where it stands.
struct Entry {
  const char *name;
  std::size_t place;
};

constexpr Entry kEntries[] = {
#define KILN_ENTRY(name, ...) {#name, offsetof(cl_icd_dispatch, name)},
    KILN_FORWARDED(KILN_ENTRY) KILN_OWN(KILN_ENTRY)
#undef KILN_ENTRY
};

void *&entry_of(cl_icd_dispatch *table, const Entry &entry) {
  return *reinterpret_cast<void **>(reinterpret_cast<char *>(table) + entry.place);
}

cl_icd_dispatch *make_table_of_script() {
  auto *table = new cl_icd_dispatch(make_table());
  for (const Entry &entry : kEntries) {
    if (script().absent.count(entry.name) != 0) entry_of(table, entry) = nullptr;
  }
  return table;
}

cl_icd_dispatch *mutable_table() {
  static cl_icd_dispatch *const table = make_table_of_script();
  return table;
}

void *CL_API_CALL extension_address(const char *name) {
  enter(call_of("clGetExtensionFunctionAddressForPlatform"));
  if (script().absent.count(name) != 0) return nullptr;
  if (std::string(name) == kIlKhr) return reinterpret_cast<void *>(create_with_il);
  if (std::string(name) == kSuggest) return reinterpret_cast<void *>(suggest_local_size);
  if (std::string(name) == kGetPlatforms) return reinterpret_cast<void *>(get_platform_ids);
  for (const Entry &entry : kEntries) {
    if (std::string(name) == entry.name) return entry_of(mutable_table(), entry);
  }
  const Real *real = real_driver();
  if (real == nullptr) return nullptr;
  return real->table->clGetExtensionFunctionAddressForPlatform(real->platform, name);
}

}  // namespace

const cl_icd_dispatch *dispatch_table() { return mutable_table(); }

bool is_entry_point(const std::string &name) {
  for (const Entry &entry : kEntries) {
    if (name == entry.name) return true;
  }
  return name == kIlKhr || name == kSuggest;
}

}  // namespace kiln::driver

// What a loader looks for in the library.
extern "C" {

__attribute__((visibility("default"))) void *CL_API_CALL
clGetExtensionFunctionAddress(const char *name) {
  return kiln::driver::extension_address(name);
}

__attribute__((visibility("default"))) cl_int CL_API_CALL
clIcdGetPlatformIDsKHR(cl_uint entries, cl_platform_id *platforms, cl_uint *count) {
  return kiln::driver::get_platform_ids(entries, platforms, count);
}
}

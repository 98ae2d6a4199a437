// SPDX-License-Identifier: Apache-2.0
// Copies the known members of the caller's struct; the rest must be zero.
#include "runtime/api/options.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/api/api.hpp"

namespace kiln::runtime {
namespace {

constexpr std::size_t kMaxSize = 4096;  // a larger one is garbage: reading on might crash

bool known_level(const kiln_level &level) {
  unsigned number = 0;  // reading it as an enumeration would promise a valid enumerator
  static_assert(sizeof(number) == sizeof(level), "an enumeration is an int");
  std::memcpy(&number, &level, sizeof(number));
  return number <= KILN_LEVEL_HIGH;
}

}  // namespace

const char *read_options(const void *given, std::size_t known, void *out) {
  const auto *bytes = static_cast<const unsigned char *>(given);
  std::size_t size = 0;
  std::memcpy(&size, bytes, sizeof(size));
  if (size < sizeof(size) || size > kMaxSize) return "size is not its sizeof";
  for (std::size_t i = known; i < size; ++i) {
    if (bytes[i] != 0) return "an option is set that this version of the library does not know";
  }
  std::memcpy(out, bytes, std::min(size, known));
  return nullptr;
}

bool known_levels(const kiln_level &a, const kiln_level &b) {
  return known_level(a) && known_level(b);
}

kiln_status refuse_options(const char *name, const char *wrong, kiln_error *out) {
  return report_error(Status::error(Code::bad_argument, {name, ": ", wrong}), out);
}

}  // namespace kiln::runtime

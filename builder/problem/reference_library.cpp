// SPDX-License-Identifier: Apache-2.0
// Opens the shared object, checks its version, and calls the function with described planes.
#include "builder/problem/reference_library.hpp"

#include <dlfcn.h>

#include <cstring>

#include <fmt/format.h>

namespace kiln::builder {
namespace {

static_assert(static_cast<int>(Type::uchar_) == KILN_REFERENCE_UCHAR);
static_assert(static_cast<int>(Type::half_) == KILN_REFERENCE_HALF);

constexpr const char *kVersionFunction = "kiln_reference_version";

std::vector<kiln_reference_plane> described(const std::vector<Plane> &planes) {
  std::vector<kiln_reference_plane> all;
  for (const Plane &plane : planes) {
    all.push_back({plane.name.c_str(), static_cast<std::uint32_t>(plane.type), plane.channels,
                   plane.width, plane.height, plane.pixels.size(),
                   const_cast<std::uint8_t *>(plane.pixels.data())});
  }
  return all;
}

}  // namespace

Result<kiln_reference_function *> load_reference(const std::string &path,
                                                 const std::string &function) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Status(Code::failed, dlerror());
  auto *version =
      reinterpret_cast<decltype(&kiln_reference_version)>(dlsym(library, kVersionFunction));
  if (version == nullptr) {
    return Status(Code::failed, fmt::format("{}: no reference library: it does not export {}", path,
                                            kVersionFunction));
  }
  if (version() != KILN_REFERENCE_VERSION) {
    return Status(Code::failed,
                  fmt::format("{}: made for version {} of kiln/reference.h; this is version {}",
                              path, version(), KILN_REFERENCE_VERSION));
  }
  auto *found = reinterpret_cast<kiln_reference_function *>(dlsym(library, function.c_str()));
  if (found == nullptr) {
    return Status(Code::failed, fmt::format("{}: exports no function {}", path, function));
  }
  return found;
}

Status call_reference(kiln_reference_function *function, const ProblemSize &size,
                      const std::vector<Plane> &inputs, const Parameters &parameters,
                      std::vector<Plane> *outputs) {
  const auto in = described(inputs);
  const auto out = described(*outputs);
  std::vector<kiln_reference_parameter> values;
  for (const auto &[name, components] : parameters) {
    values.push_back(
        {name.c_str(), components.data(), static_cast<std::uint32_t>(components.size()), 0});
  }
  char message[256] = "";
  const kiln_reference_call call{size.width,
                                 size.height,
                                 size.depth,
                                 static_cast<std::uint32_t>(in.size()),
                                 static_cast<std::uint32_t>(out.size()),
                                 static_cast<std::uint32_t>(values.size()),
                                 in.data(),
                                 out.data(),
                                 values.data(),
                                 message,
                                 sizeof(message)};
  const std::int32_t code = function(&call);
  if (code == 0) return {};
  message[sizeof(message) - 1] = '\0';
  return {Code::failed, message[0] != '\0' ? fmt::format("returned {}: {}", code, message)
                                           : fmt::format("returned {}", code)};
}

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
/// @file
/// C++17 over recorded.h; link kiln::recorded.
#pragma once

#include <string_view>

#include <unistd.h>

#include "kiln/kiln.hpp"
#include "kiln/recorded.h"

namespace kiln {

/// Finds the name of a program in packs of recorded programs; see kiln_recorded_name().
inline Result<std::string> recorded_name(std::string_view source, const std::string &options) {
  char name[KILN_RECORDED_NAME_SIZE] = {};
  const Status status = detail::call([&](kiln_error *error) {
    kiln_recorded_name(source.data(), source.size(), options.c_str(), name, sizeof(name), error);
  });
  if (!status.ok()) return status;
  return std::string(name);
}

/// Opens the pack of a program that an overlay keeps; see kiln_recorded_find().
inline Result<Pack> find_recorded(const std::string &overlay, cl_device_id device,
                                  const std::string &name) {
  int file = -1;
  std::uint64_t size = 0;
  const Status status = detail::call([&](kiln_error *error) {
    kiln_recorded_find(overlay.c_str(), device, name.c_str(), &file, &size, error);
  });
  if (!status.ok()) return status;
  Result<Pack> pack = Pack::open_descriptor(file, 0, size);
  ::close(file);
  return pack;
}

/// Stores a built program in an overlay; see kiln_recorded_store().
inline Status store_recorded(const std::string &overlay, cl_device_id device, cl_program program,
                             std::string_view source, const std::string &options,
                             const std::string &name) {
  return detail::call([&](kiln_error *error) {
    kiln_recorded_store(overlay.c_str(), device, program, source.data(), source.size(),
                        options.c_str(), name.c_str(), error);
  });
}

}  // namespace kiln

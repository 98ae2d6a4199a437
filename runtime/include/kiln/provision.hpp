// SPDX-License-Identifier: Apache-2.0
/// @file
/// C++17 over provision.h; link kiln::provision.
#pragma once

#include "kiln/kiln.hpp"
#include "kiln/provision.h"

namespace kiln {

/// Fills Mesa's shader cache from a pack file; see kiln_provision().
inline Status provision(const std::string &pack, const std::string &folder) {
  return detail::call(
      [&](kiln_error *error) { kiln_provision(pack.c_str(), folder.c_str(), error); });
}

/// Removes from `folder` the files that provision() wrote; see kiln_provision_remove().
inline Status remove_provisioned(const std::string &folder) {
  return detail::call([&](kiln_error *error) { kiln_provision_remove(folder.c_str(), error); });
}

}  // namespace kiln

// SPDX-License-Identifier: Apache-2.0
// The caches that drivers keep on disk, for processes in which they must not help, or must be
// known.
#pragma once

#include <string>

namespace kiln::builder {

// Gives this process, before it loads a driver, caches of its own below `folder`, which are empty
// if the folder is and which are one file each; caches that cannot be moved are switched off.
void use_driver_caches(const std::string &folder);

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Packs that other users signed, in a folder that users share.
#pragma once

#include <memory>
#include <vector>

#include "kiln/packs/pack.hpp"

namespace kiln::layer {

// Opens the packs at the first call; they stay open until the process ends. There are none unless
// the settings name the folder and keys. Complains if this layer cannot check signatures, or if a
// key is no key.
const std::vector<std::shared_ptr<const packs::Pack>> &signed_packs();

}  // namespace kiln::layer

// SPDX-License-Identifier: Apache-2.0
// Whether a build changed anything. Pure.
#pragma once

#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Whether packs of both would hold the same, however their blobs are stored. Sorts the parts of
// both, as a pack does.
bool same_contents(packs::Contents *a, packs::Contents *b);

}  // namespace kiln::builder

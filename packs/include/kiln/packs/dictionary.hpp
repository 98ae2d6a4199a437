// SPDX-License-Identifier: Apache-2.0
// Trains the dictionaries of packs for fleets. A library of its own: what only writes small packs
// has no use for zstd's trainer.
#pragma once

#include <vector>

#include "kiln/packs/contents.hpp"

namespace kiln::packs {

// A dictionary that serves blobs like these, from at most 16 MiB of them, evenly spaced; empty if
// there is too little to learn from. The same blobs in the same order give the same bytes. Fails
// where a blob cannot be read.
Status train_dictionary(const std::vector<BlobSource> &sources, Bytes *out);

}  // namespace kiln::packs

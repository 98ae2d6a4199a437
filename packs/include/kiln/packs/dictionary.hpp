// SPDX-License-Identifier: Apache-2.0
// Trains the dictionaries of fleet packs. A library of its own: programs that only write small
// packs have no use for zstd's trainer.
#pragma once

#include <vector>

#include "kiln/packs/contents.hpp"

namespace kiln::packs {

// Trains a dictionary for blobs like these, from at most 16 MiB of them, evenly spaced; empty if
// there is too little to learn from. The same blobs in the same order give the same bytes. Fails if
// a blob cannot be read.
Status train_dictionary(const std::vector<BlobSource> &sources, Bytes *out);

}  // namespace kiln::packs

// SPDX-License-Identifier: Apache-2.0
// Writes packs.
#pragma once

#include <string>

#include "kiln/packs/contents.hpp"
#include "kiln/packs/write_options.hpp"

namespace kiln::packs {

// Writes `contents` to `path`: a new temporary file in the same folder, synced, renamed
// over. Blobs stream through one at a time. On any failure the temporary file is removed
// and what stood at `path` is untouched. The same contents and options give the same bytes,
// whatever the order of programs, variants and targets. Contents that no reader would take (a name
// twice, a blob over 1 GiB) are bad_argument or over_limit. Not for two threads on one path.
Status write_pack(const Contents &contents, const std::string &path,
                  const WriteOptions &options = {});

}  // namespace kiln::packs

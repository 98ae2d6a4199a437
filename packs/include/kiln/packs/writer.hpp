// SPDX-License-Identifier: Apache-2.0
// Writes packs.
#pragma once

#include <string>

#include "kiln/packs/contents.hpp"
#include "kiln/packs/write_options.hpp"

namespace kiln::packs {

// Writes `contents` to a temporary file in the folder of `path`, syncs it unless told otherwise,
// and renames it to `path`. Streams one blob at a time. On any failure, removes the temporary file
// and leaves the old file at `path` untouched. The same contents and options give the same bytes,
// in whatever order programs, variants and targets are. Fails with bad_argument or over_limit for
// contents that no reader would accept (a name twice, a blob over 1 GiB). Two threads must not
// write to one path.
Status write_pack(const Contents &contents, const std::string &path,
                  const WriteOptions &options = {});

// The same without compression, for programs that link no compressor and wait for the file: blobs
// from packs keep their form, and new blobs are stored raw. Ignores what the options say about the
// form. Fails with bad_argument for a blob whose base is another blob.
Status write_raw_pack(const Contents &contents, const std::string &path,
                      const WriteOptions &options = {});

}  // namespace kiln::packs

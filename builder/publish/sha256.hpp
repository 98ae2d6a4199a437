// SPDX-License-Identifier: Apache-2.0
// SHA-256, by which OCI names blobs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

struct FileDigest {
  std::string digest;  // "sha256:" and 64 hexadecimal digits
  std::uint64_t size = 0;
};

FileDigest sha256_of(std::string_view bytes);
// Reads a regular file in pieces. Of one with more than `most` bytes it tells the size alone,
// without a digest. Fails with Code::not_found or Code::io_error; the message has its path.
Result<FileDigest> sha256_of_file(const std::string &path, std::uint64_t most = UINT64_MAX);

}  // namespace kiln::builder

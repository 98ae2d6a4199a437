// SPDX-License-Identifier: Apache-2.0
// SHA-256, by which OCI names blobs.
#pragma once

#include <string>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

struct FileDigest {
  std::string digest;  // "sha256:" and 64 hexadecimal digits
  std::uint64_t size = 0;
};

FileDigest sha256_of(std::string_view bytes);
// Reads the file in pieces. Fails with Code::not_found or Code::io_error; the message has its path.
Result<FileDigest> sha256_of_file(const std::string &path);

}  // namespace kiln::builder

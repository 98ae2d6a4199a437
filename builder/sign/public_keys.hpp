// SPDX-License-Identifier: Apache-2.0
// Reads files of public keys, as minisign writes them, and checks packs against keys.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/signing.hpp"

namespace kiln::builder {

// Reads a whole file of at most 16 KiB. Fails with Code::not_found, and with Code::failed for a
// file that cannot be read, is too large or is not a regular file, since reading a FIFO would
// block.
Result<std::string> read_small_file(const std::string &path);

// Reads public keys; each is the name of a file or, if no such file exists, the line of a key file.
// Fails with Code::failed for a file that cannot be read, and with Code::bad_argument for a file or
// line that is not a key.
Result<std::vector<packs::PublicKey>> read_public_keys(const std::vector<std::string> &keys);

// Returns the lines of the keys, each read as read_public_keys() does.
Result<std::vector<std::string>> read_public_key_lines(const std::vector<std::string> &keys);

// What a command demands of a pack's signatures.
struct PublicKeys {
  std::vector<std::string> keys;
  std::uint64_t threshold = 1;
  std::uint64_t revision = 0;

  // Reads the keys. Fails as read_public_keys() does, and if the threshold exceeds their number.
  Result<packs::Demand> demand() const;

  // Replaces the pack by the same pack, checked as it is read; does nothing without keys. `name` is
  // the pack's in the message.
  Status check(const std::string &name, std::shared_ptr<const packs::Pack> *pack) const;
};

}  // namespace kiln::builder

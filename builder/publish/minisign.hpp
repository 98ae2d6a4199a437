// SPDX-License-Identifier: Apache-2.0
// Runs minisign, which alone reads secret keys and their passwords, and reads the files that
// minisign writes: public keys and detached signatures.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/signing.hpp"

namespace kiln::builder {

// Signs statements, in one call, so that a password is asked for only once; `comment` is minisign's
// trusted comment.
using Signer = std::function<Result<std::vector<packs::Detached>>(
    const std::vector<std::string> &statements, const std::string &comment)>;

// Signs the statements in one run of minisign, with the secret key in the file `key` and this
// trusted comment; returns the signatures in the same order. If the key has a password, minisign
// asks for it once on standard error and reads it from standard input, whether or not that is a
// terminal. The caller must be single-threaded. Fails with Code::no_device if minisign is not in
// PATH, and with Code::failed.
Result<std::vector<packs::Detached>> sign_by_minisign(const std::string &key,
                                                      const std::vector<std::string> &statements,
                                                      const std::string &comment);

// Reads a whole file of at most 16 KiB. Fails with Code::not_found, and with Code::failed for a
// file that cannot be read, is too large or is not a regular file, since reading a FIFO would
// block.
Result<std::string> read_small_file(const std::string &path);

// Reads NAME.minisig and NAME beside it. Fails with Code::bad_argument if the name does not end
// with .minisig, and with Code::failed.
Result<packs::Detached> read_detached_files(const std::string &minisig);

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

// SPDX-License-Identifier: Apache-2.0
// Runs minisign, which alone reads secret keys and their passwords, and reads the files that it
// writes: public keys and detached signatures.
#pragma once

#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/signing.hpp"

namespace kiln::builder {

// Signs the statements of packs of this revision by one run of minisign, with the secret key in the
// file `key`; returns the signatures in the same order. If the key has a password, minisign asks
// for it once on standard error and reads it from standard input, a terminal or not. The caller
// must be single-threaded. Fails with Code::no_device if no minisign is in PATH, and with
// Code::failed.
Result<std::vector<packs::Detached>> sign_by_minisign(const std::string &key,
                                                      const std::vector<std::string> &statements,
                                                      std::uint64_t revision);

// The texts of NAME.minisig and, beside it, NAME. Fails with Code::bad_argument for another name,
// and with Code::failed.
Result<packs::Detached> read_detached_files(const std::string &minisig);

// Public keys, each the name of a file or, if there is no such file, the line in one. Fails with
// Code::failed for a file that cannot be read, and with Code::bad_argument for what is no key.
Result<std::vector<packs::PublicKey>> read_public_keys(const std::vector<std::string> &keys);

}  // namespace kiln::builder

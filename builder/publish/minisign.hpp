// SPDX-License-Identifier: Apache-2.0
// Runs minisign, which alone reads secret keys and their passwords, and reads the files that
// minisign writes: public keys and detached signatures.
#pragma once

#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/signing.hpp"

namespace kiln::builder {

// Signs the statements of packs of this revision in one run of minisign, with the secret key in the
// file `key`; returns the signatures in the same order. If the key has a password, minisign asks
// for it once on standard error and reads it from standard input, whether or not that is a
// terminal. The caller must be single-threaded. Fails with Code::no_device if minisign is not in
// PATH, and with Code::failed.
Result<std::vector<packs::Detached>> sign_by_minisign(const std::string &key,
                                                      const std::vector<std::string> &statements,
                                                      std::uint64_t revision);

// Reads NAME.minisig and NAME beside it. Fails with Code::bad_argument if the name does not end
// with .minisig, and with Code::failed.
Result<packs::Detached> read_detached_files(const std::string &minisig);

// Reads public keys; each is the name of a file or, if no such file exists, the line of a key file.
// Fails with Code::failed for a file that cannot be read, and with Code::bad_argument for a file or
// line that is not a key.
Result<std::vector<packs::PublicKey>> read_public_keys(const std::vector<std::string> &keys);

}  // namespace kiln::builder

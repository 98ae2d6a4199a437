// SPDX-License-Identifier: Apache-2.0
// What is minisign's: its program, which alone reads secret keys and their passwords, and the files
// of public keys and detached signatures.
#pragma once

#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/signing.hpp"

namespace kiln::builder {

// Signs statements of packs as this revision, in their order, by one run of minisign with the
// secret key in the file `key`. A key with a password makes minisign ask for it once, on standard
// error; it reads standard input, be that a terminal or not. The caller must be single-threaded.
// Fails with Code::no_device where no minisign is in PATH, and with Code::failed.
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

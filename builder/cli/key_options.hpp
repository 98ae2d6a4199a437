// SPDX-License-Identifier: Apache-2.0
// Keys and detached signatures that a command line names.
#pragma once

#include <string>
#include <vector>

#include "builder/cli/common.hpp"
#include "kiln/packs/signing.hpp"

namespace kiln::cli {

// Reads a secret key. The password of an encrypted one is that of KILN_KEY_PASSWORD, else it is
// asked for at the terminal. Fails with Code::failed, and with Code::bad_argument where the file
// must not or cannot be used.
Status load_secret_key(const std::string &path, packs::SecretKey *out);

// Public keys, each a file or its line; fails as load_secret_key() does.
Result<std::vector<packs::PublicKey>> load_public_keys(const std::vector<std::string> &keys);

// The texts of NAME.statement.minisig and, beside it, NAME.statement. Fails with Code::failed.
Status read_detached_files(const std::string &minisig, packs::Detached *out);

}  // namespace kiln::cli

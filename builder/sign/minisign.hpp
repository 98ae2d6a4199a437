// SPDX-License-Identifier: Apache-2.0
// Runs minisign, which alone reads secret keys and their passwords.
#pragma once

#include <functional>
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

}  // namespace kiln::builder

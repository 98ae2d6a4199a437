// SPDX-License-Identifier: Apache-2.0
// Files of keys: secret ones for their owner's eyes only, and never overwritten by mistake.
#pragma once

#include <memory>
#include <string>

#include "kiln/packs/keys.hpp"

namespace kiln::packs {

// Reads a file of at most 4 KiB into memory that is overwritten when it goes. One that others than
// its owner may read or write, or a link, is refused with what to do: Code::bad_argument.
Status read_secret_file(const std::string &path, std::unique_ptr<SecretText> *out);
// A public key, from its file, or from the key's own line if no file has that name.
Status read_public_key(const std::string &path_or_line, PublicKey *out);

// Writes NAME.key, for its owner alone, and NAME.pub. Both must be new, unless `force`, which
// replaces both. Where it fails, neither is there, or both are as they were but with `force` maybe
// one.
Status write_key_files(const SecretKey &key, const std::string &name, bool force);

}  // namespace kiln::packs

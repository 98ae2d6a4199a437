// SPDX-License-Identifier: Apache-2.0
// What the commands for OCI image layouts share.
#pragma once

#include "builder/publish/publish.hpp"

namespace kiln::cli {

// Returns the folder in "oci:DIR".
Result<std::string> layout_folder(const std::string &word);

// Opens the layout under its lock; says so if another command has it.
Result<builder::OciFolder> open_layout_to_add(const std::string &word);

// Makes a signer of each secret key, which runs minisign.
std::vector<builder::Signer> signers(const std::vector<std::string> &secret_keys);

}  // namespace kiln::cli

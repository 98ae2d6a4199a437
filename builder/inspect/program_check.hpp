// SPDX-License-Identifier: Apache-2.0
// Whether programs are those that their hashes and names say.
#pragma once

#include <string>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

// Whether the variant has its hash, as packs::check_variant_hash() says, and whether a program with
// the name of a recorded one has that name by this variant's source, or by each of its modules, and
// its options. Without source and IL there is nothing to compute it from. Code::conflict, or what
// reading a blob gave.
Status check_variant(const std::string &program, const packs::Variant &variant);
// The first Code::conflict of a variant.
Status check_variants(const packs::Contents &contents);

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// What opening a pack does not check: whether what it says of itself is so.
#pragma once

#include "kiln/packs/contents.hpp"

namespace kiln::packs {

// Whether the variant's hash is that of its source, options and kernels: a pack says so itself, and
// whoever takes a source from it believes it. Without a source there is nothing to compute it from.
// Code::conflict, or what reading the source gave.
Status check_variant_hash(const std::string &program, const Variant &variant);
// Of all variants whose source can be read.
Status check_variant_hashes(const Contents &contents);

// Whether a pack is nothing but what its format describes, which a signature of its root covers:
// the name of each target is that of its section, and between the parts lie zeros.
Status check_layout(const Pack &pack);

}  // namespace kiln::packs

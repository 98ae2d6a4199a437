// SPDX-License-Identifier: Apache-2.0
// What a pack's records say, held against each other and against what is in its blobs, for
// `kiln verify --deep`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/inspect/pack_check.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct DeepFindings {
  std::vector<Finding> faults;  // what FORMAT.md does not allow
  // What it allows, and what may be meant otherwise: names and keys of records that the pack does
  // not have, binaries of variants that it does not have, blobs that nothing refers to.
  std::vector<Finding> notes;
};

// Whether the variant's lines of recorded launches are such lines.
using CheckLaunches = std::function<Status(const packs::Variant &variant, std::string_view lines)>;

// Checks keys, the facts of kernels, work-group sizes that are rising, SPIR-V headers, recorded
// launches, rusticl's auxiliary blobs, blobs that nothing refers to, and every reference. Blobs
// that cannot be read are passed over, but for the last kind. `contents` is what `pack` has. Fails
// where a section cannot be read.
Result<DeepFindings> check_deeply(const packs::Pack &pack, const packs::Contents &contents,
                                  const CheckLaunches &check_launches);

}  // namespace kiln::builder

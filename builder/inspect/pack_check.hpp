// SPDX-License-Identifier: Apache-2.0
// Whether a pack is sound: its blobs have their hashes, its programs are those that their hashes
// and names say, and its records agree with each other and with the blobs (`kiln verify --deep`).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct Finding {
  std::string what;    // "blur/wide SPIR-V, 64-bit"
  std::string text;    // a sentence
  std::string code{};  // the name of its packs::Code; "" if it has none
};

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

// Whether the variant has its hash, as packs::check_variant_hash() says, and whether a program with
// the name of a recorded one has that name by this variant's source, or by each of its modules, and
// its options. Without source and IL there is nothing to compute it from. Code::conflict, or what
// reading a blob gave.
Status check_variant(const std::string &program, const packs::Variant &variant);
// The first Code::conflict of a variant.
Status check_variants(const packs::Contents &contents);

struct PackCheck {
  std::vector<Finding> faults;
  std::size_t blobs = 0;  // that were checked
  std::size_t binaries = 0;
  std::size_t final = 0;      // leave nothing to compile at their first launch
  std::size_t not_final = 0;  // leave something

  void add(const packs::Status &status, const std::string &what);  // nothing if it is ok
};

// Told before each blob, with how many are done and how many there are.
using BlobProgress =
    std::function<void(const std::string &what, std::size_t done, std::size_t all)>;

// Reads every blob, compares it with its hashes, and checks the layout of the file. `contents` is
// what `pack` has. `*out` is empty before, and grows while `progress` is told.
void check_pack(const packs::Pack &pack, const packs::Contents &contents,
                const BlobProgress &progress, PackCheck *out);

}  // namespace kiln::builder

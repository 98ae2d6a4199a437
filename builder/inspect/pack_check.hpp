// SPDX-License-Identifier: Apache-2.0
// Whether a pack is sound: its blobs have their hashes, and its programs are those that their
// hashes and names say.
#pragma once

#include <functional>
#include <string>
#include <vector>

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

struct Finding {
  std::string what;    // "blur/wide SPIR-V, 64-bit"
  std::string text;    // a sentence
  std::string code{};  // the name of its packs::Code; "" if it has none
};

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

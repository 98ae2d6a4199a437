// SPDX-License-Identifier: Apache-2.0
// Checks that a pack is sound: blobs have their hashes, programs match their hashes and names, and
// the records agree with each other and with the blobs (`kiln pack verify --deep`).
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
  std::string code{};  // the name of the packs::Code; "" if there is none
};

struct DeepFindings {
  std::vector<Finding> faults;  // violations of FORMAT.md
  // Legal but suspicious: records with names or keys that the pack lacks, binaries of variants that
  // it lacks, and blobs that nothing refers to.
  std::vector<Finding> notes;
};

// Checks the format of a variant's lines of recorded launches.
using CheckLaunches = std::function<Status(const packs::Variant &variant, std::string_view lines)>;

// Checks keys, the facts of kernels, that work-group sizes rise, SPIR-V headers, recorded launches,
// rusticl's cache entries, unreferenced blobs, and every reference. Skips unreadable blobs,
// except when it looks for unreferenced ones. `contents` are the contents of `pack`. Fails if a
// section cannot be read.
Result<DeepFindings> check_deeply(const packs::Pack &pack, const packs::Contents &contents,
                                  const CheckLaunches &check_launches);

// Checks the variant's hash with packs::check_variant_hash(). For a program with the name of a
// recorded one, also checks that this name follows from the variant's options and its source, or
// each of its modules; a variant without source and IL passes. Fails with Code::conflict, or as
// reading a blob does.
Status check_variant(const std::string &program, const packs::Variant &variant);
// Returns the first Code::conflict of a variant.
Status check_variants(const packs::Contents &contents);

struct PackCheck {
  std::vector<Finding> faults;
  std::size_t blobs = 0;  // number of checked blobs
  std::size_t binaries = 0;
  std::size_t final = 0;      // binaries that leave nothing to compile at their first launch
  std::size_t not_final = 0;  // binaries that leave something

  void add(const packs::Status &status, const std::string &what);  // ignores an ok status
};

// Called before each blob with the number done and the total.
using BlobProgress =
    std::function<void(const std::string &what, std::size_t done, std::size_t all)>;

// Reads every blob, compares it with its hashes, and checks the layout of the file. `contents` are
// the contents of `pack`. `*out` must be empty; it grows between calls of `progress`.
void check_pack(const packs::Pack &pack, const packs::Contents &contents,
                const BlobProgress &progress, PackCheck *out);

}  // namespace kiln::builder

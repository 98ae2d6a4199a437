// SPDX-License-Identifier: Apache-2.0
// The variants of some programs by name and by hash, for records that name one and are about its
// text. Pure.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/packs/contents.hpp"

namespace kiln::packs {

struct NamedVariant {
  const Program *program;
  const Variant *variant;
};

// A view of the programs, which must outlive it.
class Variants {
 public:
  explicit Variants(const std::vector<Program> &programs) {
    for (const Program &program : programs) {
      for (const Variant &variant : program.variants) {
        by_name_.insert({{program.name, variant.name}, variant.hash});
        by_hash_[variant.hash].push_back({&program, &variant});
      }
    }
  }

  // Returns zeros if there is no variant of the names.
  Digest hash(std::string_view program, std::string_view variant) const {
    const auto named = by_name_.find({program, variant});
    return named == by_name_.end() ? Digest{} : named->second;
  }

  // Returns all variants with the hash, in the order of the programs.
  const std::vector<NamedVariant> &with(const Digest &hash) const {
    static const std::vector<NamedVariant> kNone;
    const auto found = by_hash_.find(hash);
    return found == by_hash_.end() ? kNone : found->second;
  }

 private:
  std::map<std::pair<std::string_view, std::string_view>, Digest> by_name_;
  std::map<Digest, std::vector<NamedVariant>> by_hash_;
};

}  // namespace kiln::packs

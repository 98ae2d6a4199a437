// SPDX-License-Identifier: Apache-2.0
/// @file
/// C++17 over signed.h; link kiln::signed.
#pragma once

#include <string>
#include <vector>

#include "kiln/kiln.hpp"
#include "kiln/signed.h"

namespace kiln {

/// Required signatures; must exist until the loaders that require them are created. See kiln_trust.
class Trust {
 public:
  /// `keys`: the texts of public key files, or their second lines; `threshold` of them must have
  /// signed.
  explicit Trust(std::vector<std::string> keys, std::uint64_t smallest_revision = 0,
                 kiln_trust_policy policy = KILN_TRUST_REQUIRE, std::uint32_t threshold = 1)
      : keys_(std::move(keys)) {
    for (const std::string &key : keys_) pointers_.push_back(key.c_str());
    trust_.size = sizeof(trust_);
    trust_.policy = policy;
    trust_.threshold = threshold;
    trust_.keys = pointers_.data();
    trust_.key_count = pointers_.size();
    trust_.smallest_revision = smallest_revision;
    trust_.functions = kiln_signatures();
  }
  Trust(const Trust &) = delete;
  Trust &operator=(const Trust &) = delete;

  /// Makes the loaders that are created with `options` require these signatures.
  void use_for(kiln_loader_options *options) const { kiln_loader_use_trust(options, &trust_); }
  /// Returns the struct for kiln_loader_use_trust().
  const kiln_trust *get() const { return &trust_; }

 private:
  std::vector<std::string> keys_;
  std::vector<const char *> pointers_;
  kiln_trust trust_ = {};
};

}  // namespace kiln

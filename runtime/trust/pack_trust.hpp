// SPDX-License-Identifier: Apache-2.0
// A loader's demand that its pack be signed. The cryptography is the application's to link.
#pragma once

#include <atomic>
#include <memory>

#include "kiln/trust.h"
#include "runtime/load/loader.hpp"

namespace kiln::runtime {

// Compares the names of a pack's parts, and keeps what was wrong where that is only to be told.
class PackTrust final : public Trust {
 public:
  PackTrust(const kiln_signature_functions &functions, bool required)
      : functions_(functions), required_(required) {}

  bool accepts(packs::View bytes, const packs::Digest &name) const override;
  // Judges the root of `pack`: Code::untrusted, or bad_argument for a demand that breaks its rules.
  // What is only to be told is no failure. `scratch` is for the signatures.
  Status judge(const packs::Pack &pack, const kiln_trust &trust, packs::Bytes *scratch);

  Status told() const override;
  std::uint64_t number() const override { return number_; }

 private:
  const kiln_signature_functions &functions_;
  bool required_;
  std::uint64_t number_ = 0;
  Status fault_;                             // of the root
  mutable std::atomic<bool> forged_{false};  // a part with another name was accepted
};

// Takes the demand of a loader that has its pack, which from then on is one that is checked.
Status take_trust(const kiln_trust &trust, Loader *loader);

}  // namespace kiln::runtime

// SPDX-License-Identifier: Apache-2.0
// Required signatures of a loader's pack. The application links the cryptography.
#pragma once

#include <atomic>
#include <memory>

#include "kiln/trust.h"
#include "runtime/load/loader.hpp"

namespace kiln::runtime {

// Compares a pack's parts with their names, and keeps the faults that are only to be reported.
class PackTrust final : public Trust {
 public:
  PackTrust(const kiln_signature_functions &functions, bool required)
      : functions_(functions), required_(required) {}

  bool accepts(packs::View bytes, const packs::Digest &name) const override;
  // Checks the signatures of `pack`'s root. Fails with Code::untrusted, or with Code::bad_argument
  // if `trust` breaks a rule. A fault that is only to be reported is no failure. `scratch` is for
  // the signatures.
  Status judge(const packs::Pack &pack, const kiln_trust &trust, packs::Bytes *scratch);

  Status distrust() const override;
  std::uint64_t number() const override { return number_; }

 private:
  const kiln_signature_functions &functions_;
  bool required_;
  std::uint64_t number_ = 0;
  Status fault_;                             // fault of the root
  mutable std::atomic<bool> forged_{false};  // a part that does not match its name was accepted
};

// Opens a pack of another user's again, from then on checked as it is read. Fails unless it is
// signed as `trust` requires, whatever its policy is and of whatever revision the pack is.
Status accept_pack(const kiln_trust &trust, std::shared_ptr<const packs::Pack> *pack);

// Makes a loader, which must have its pack, require signatures; from then on its pack is checked.
Status take_trust(const kiln_trust &trust, Loader *loader);

}  // namespace kiln::runtime

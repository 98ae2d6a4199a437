// SPDX-License-Identifier: Apache-2.0
// What each rung of the ladder has to offer for a variant. Reads the pack; no driver.
#pragma once

#include <string>
#include <vector>

#include "runtime/load/loader.hpp"

namespace kiln::runtime {

// A blob of the pack, or null with the reason.
struct Offer {
  packs::BlobRef blob;
  packs::ProvenanceRef provenance;  // of a binary or an intermediate
  kiln_outcome outcome = KILN_OUTCOME_MISSED;
  std::string reason;
  VendorRule rule{};  // of the compatible rung
};

// Whether the variant requires a proof, and whether the pack has a binary of it for the device's
// key that has one.
bool requires_proof(packs::VariantRef variant);
bool is_proven(const packs::Pack &pack, const Device &device, packs::VariantRef variant);

// If the key does not name the driver, a binary that was made by a later driver than the device's
// does not count.
Offer offer_exact(const Loader &loader, packs::VariantRef variant);
// Of NVIDIA's targets whose compute capability is not above the device's, the highest one's PTX.
Offer offer_intermediate(const Loader &loader, packs::VariantRef variant);
Offer offer_il(const Loader &loader, packs::VariantRef variant);
Offer offer_source(const Loader &loader, packs::VariantRef variant);
// Every binary that may serve, best first; never empty: without any, one that says why.
std::vector<Offer> offer_compatible(const Loader &loader, packs::VariantRef variant);
// Whether the pack has nothing for the rungs below; `flags` are the KILN_LOAD_* bits.
bool is_last(const Loader &loader, packs::VariantRef variant, unsigned flags, kiln_rung rung);

}  // namespace kiln::runtime

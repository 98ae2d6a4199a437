// What each rung of the ladder has to offer for a variant. Reads the pack; no driver.
#pragma once

#include <string>
#include <vector>

#include "ladder.hpp"

namespace kiln::runtime {

// A blob of the pack, or the reason why there is none.
struct Offer {
  const packs::fb::Blob *blob = nullptr;
  kiln_outcome outcome = KILN_OUTCOME_MISSED;
  std::string reason;  // with a blob of the compatible rung: why it may serve
};

Offer offer_exact(const Loader &loader, const packs::fb::Variant &variant);
Offer offer_il(const Loader &loader, const packs::fb::Variant &variant);
Offer offer_source(const Loader &loader, const packs::fb::Variant &variant);
// Every binary that may serve, best first; never empty: without any, one that says why.
std::vector<Offer> offer_compatible(const Loader &loader, const packs::fb::Variant &variant);

}  // namespace kiln::runtime

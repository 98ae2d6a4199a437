// SPDX-License-Identifier: Apache-2.0
// Finds targets whose binaries a device may run although their key differs. No OpenCL.
#pragma once

#include <string>
#include <vector>

#include "kiln/packs/pack.hpp"
#include "runtime/identity/identity.hpp"

namespace kiln::runtime {

struct Candidate {
  std::size_t target;  // index in the pack
  VendorRule rule;     // for a recorded cross-check: "a cross-check found that ..."
};

// Returns candidates in the order in which to try them: first targets that the pack's cross-checks
// recorded as native for the device's key, then targets that the vendor's rule allows, then targets
// that the vendor's rule allows only if a check vouches for them; the nearest keys first in each
// group. A cross-check with another result removes its target, and so do address bits that differ
// from the device's.
//
// Three vendors have a rule:
//  * Intel, measured: driver version, address bits, family and architecture are equal, in the same
//    encoding of the IP version, whose release may differ. With another driver version, zebins for
//    the same product may be used after a check.
//  * Adreno: binaries for the same model by an older compiler may be used after a check.
//  * NVIDIA, by its documentation: cubins for X.y run on X.z with z >= y. A driver may also take
//    the cubins of a later driver, without a promise.
//
// The target with the device's own key is a candidate only by NVIDIA's rule. Reads every section of
// the pack (none if neither a cross-check nor a rule can apply), and skips a damaged one. A rule
// does not prove that a binary is native: check on first use what the driver made of it.
std::vector<Candidate> find_compatible(const packs::Pack &pack, const Description &device);

// Returns the compute capability that a target was built for, 900 for 9.0; 0 for another vendor's
// target, and for address bits that differ from the device's.
std::uint32_t compute_capability_of(packs::TargetRef target, const Description &device);

}  // namespace kiln::runtime

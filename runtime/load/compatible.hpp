// SPDX-License-Identifier: Apache-2.0
// Targets whose binaries may serve a device although their key is another. No OpenCL.
#pragma once

#include <string>
#include <vector>

#include "kiln/packs/pack.hpp"
#include "runtime/identity/identity.hpp"

namespace kiln::runtime {

struct Candidate {
  std::size_t target;  // of the pack
  VendorRule rule;     // with a record: "a cross-check found that ..."
};

// In the order in which to try them: what the pack's cross-checks recorded as native for the
// device's key, what the vendor's rule allows, and what it calls a candidate that something must
// vouch for; the nearest keys first. A record that says anything else takes its target off the
// list, and so do other address bits than the device's. Three vendors have a rule. Intel's,
// measured: the same driver version, address bits and family, and the same architecture by the
// same way of counting, the release of the IP version may differ; of another driver version zebins
// for the same product are candidates. Adreno's candidates: the same model, by an older compiler.
// NVIDIA's, by its documentation: cubins for X.y run on X.z with z >= y; a driver may take those
// of a later driver, without a promise.
//
// The target with the device's very key is a candidate by NVIDIA's rule alone.
// Reads every section of the pack (none if neither a record nor a rule can hold), and leaves out a
// damaged one. Native is not proven for a candidate by rule: check what the driver made of it on
// first use.
std::vector<Candidate> find_compatible(const packs::Pack &pack, const Description &device);

// The compute capability that a target was built for, 900 for 9.0; 0 for another vendor's
// target, and for other address bits than the device's.
std::uint32_t compute_capability_of(packs::TargetRef target, const Description &device);

}  // namespace kiln::runtime

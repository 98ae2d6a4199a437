// SPDX-License-Identifier: Apache-2.0
// The work-group sizes from which a search starts: what the runtime takes without a measurement.
#pragma once

#include <string>
#include <vector>

#include "builder/launch/opened_pack.hpp"
#include "builder/launch/workload.hpp"
#include "runtime/launch/work_group.hpp"

namespace kiln::builder {

using runtime::NDSize;

struct Seeds {
  NDSize own{0, 0, 0};        // the variant's own; zeros: none
  NDSize suggested{0, 0, 0};  // by the driver; zeros: nothing that can be launched
  NDSize guess{1, 1, 1};      // made up

  // Why the suggestion cannot be launched; empty: it can, or there is none. Then `refused_local` is
  // what the driver said, zeros if it failed.
  std::string refused;
  NDSize refused_local{0, 0, 0};

  // Those that there are, in the order in which the runtime takes them, each once.
  std::vector<NDSize> sizes() const;
};

// Asks the driver, if it suggests sizes. The kernel's arguments must be set.
Seeds find_seeds(const OpenedPack &opened, cl_kernel kernel, const packs::Variant &variant,
                 const Stage &stage, const runtime::WorkGroupLimits &limits);

// Makes seeds and candidates what the variant's rules for launches allow. Fails with
// Code::bad_argument where no work-group does.
Status keep_rules(const packs::Variant &variant, const runtime::WorkGroupLimits &limits,
                  std::vector<NDSize> *seeds, std::vector<NDSize> *candidates);

}  // namespace kiln::builder

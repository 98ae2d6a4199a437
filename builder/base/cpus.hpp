// SPDX-License-Identifier: Apache-2.0
// How much this process may do at the same time.
#pragma once

#include <cstddef>

namespace kiln::builder {

// The CPUs that this process may use, which are fewer than the machine's where its affinity is
// narrowed; at least 1.
std::size_t usable_cpus();

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Keeps a store small.
#pragma once

#include <cstdint>

#include "builder/store/store.hpp"

namespace kiln::builder {

// If the database has more than `most` bytes, removes jobs, least recently used first, until the
// blobs of the others have at most so many bytes as stored, then the blobs that no job needs, and
// makes the file smaller. Other processes may use the store meanwhile.
Status collect_garbage(Store &store, std::int64_t most);

}  // namespace kiln::builder

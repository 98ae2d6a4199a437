// SPDX-License-Identifier: Apache-2.0
// Mesa's own threads, which write its shader cache.
#pragma once

namespace kiln::builder {

// Waits, at most 10 seconds, until Mesa's threads have written to disk what this process compiled.
// Returns within milliseconds if no thread has anything to write.
void await_mesa();

}  // namespace kiln::builder

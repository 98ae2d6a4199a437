// SPDX-License-Identifier: Apache-2.0
// Counts what this thread takes from operator new, in the whole executable.
#pragma once

namespace kiln::test {

long allocations();

}  // namespace kiln::test

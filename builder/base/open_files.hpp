// SPDX-License-Identifier: Apache-2.0
// How many files this process may have open.
#pragma once

namespace kiln::builder {

// As many as the system allows, for what keeps each of many packs open: shells allow 1,024.
void allow_many_files();

}  // namespace kiln::builder

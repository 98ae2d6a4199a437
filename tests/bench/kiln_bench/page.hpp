// SPDX-License-Identifier: Apache-2.0
// The page of what was measured: one HTML file with everything in it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace kiln::builder {

// The page, complete: plots, tables and the documents themselves, with no reference to any
// other file or host. `kernels`, `tuning` and `startup` are what `kiln-bench kernels --json`,
// `kiln tune --json` and `kiln bench startup --json` print; null for what was not measured, of
// which the page then says how to. Their texts may hold anything, UTF-8 or not: none is read
// as markup. Whatever is missing in a document is missing on the page and no error.
std::string bench_page(const nlohmann::json &kernels, const nlohmann::json &tuning,
                       const nlohmann::json &startup);

}  // namespace kiln::builder

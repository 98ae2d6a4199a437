// SPDX-License-Identifier: Apache-2.0
// Options that `kiln export` and `kiln harvest` share.
#pragma once

#include "builder/caches/cache_formats.hpp"
#include "builder/cli/common.hpp"

namespace kiln::cli {

// --as; `otherwise` ends its text.
CLI::Option *add_format_option(CLI::App &command, builder::CacheRequest *cache,
                               const char *otherwise = "");

// --learn and --include.
void add_learning_options(CLI::App &command, builder::CacheRequest *cache);

}  // namespace kiln::cli

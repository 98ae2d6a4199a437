// SPDX-License-Identifier: Apache-2.0
// What `kiln record` says when the application has ended.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kiln::builder {

// Returns the folders below `home` in which applications that are known to Kiln keep programs of
// their own, and which exist.
std::vector<std::string> own_cache_folders(const std::filesystem::path &home);

// Sums the layer's report, JSON lines, in one line of text: the programs that were recorded in
// `spool` (empty: a temporary folder, which is not named), the programs that the application loaded
// from its own cache (`folders` are the known places), the programs that could not be recorded and
// why, or that the layer was not reached.
std::string recording_text(const std::string &report, const std::string &spool,
                           const std::vector<std::string> &folders);

}  // namespace kiln::builder

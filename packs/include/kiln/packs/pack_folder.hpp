// SPDX-License-Identifier: Apache-2.0
// Folders of packs.
#pragma once

#include <string>
#include <vector>

#include "kiln/packs/status.hpp"

namespace kiln::packs {

// The paths of the folder's *.kiln files, in the order of their names. Code::io_error, with the
// folder's name, if it cannot be read.
Status packs_in(const std::string &folder, std::vector<std::string> *out);

// Of a spool, beside its packs: which start of an application built which (docs/layer.md).
inline constexpr char kStartsFile[] = "starts";
// And what was linked of several programs.
inline constexpr char kLinksFile[] = "links";

}  // namespace kiln::packs

// SPDX-License-Identifier: Apache-2.0
// What the tools that forge packs begin with: a pack of one target.
#pragma once

#include <cstdio>

#include "kiln/packs/writer.hpp"

namespace kiln::test {

// False, with a line on standard error, where it is none.
inline bool read_one_target(const char *path, packs::Contents *out) {
  std::shared_ptr<const packs::Pack> pack;
  packs::Status status = packs::Pack::open_file(path, &pack);
  if (status.ok()) status = packs::read_contents(pack, out);
  if (!status.ok()) std::fprintf(stderr, "%s: %s\n", path, status.message.c_str());
  if (status.ok() && out->targets.size() != 1) {
    std::fprintf(stderr, "%s: %zu targets instead of one\n", path, out->targets.size());
    return false;
  }
  return status.ok();
}

}  // namespace kiln::test

// SPDX-License-Identifier: Apache-2.0
// The description of a device in a pack. For code that writes packs: the runtime has none of it.
#pragma once

#include "kiln/packs/contents.hpp"
#include "runtime/identity/identity.hpp"

namespace kiln::runtime {

// Returns the target of a device, without binaries.
inline packs::Target target_of(const Identity &identity, const Description &description) {
  packs::Target target;
  target.key = description.key.text();
  target.profile = description.profile;
  target.family = description.family;
  target.model = description.model;
  target.compiler = description.compiler;
  target.identity = identity.facts();
  return target;
}

}  // namespace kiln::runtime

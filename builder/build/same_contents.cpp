// SPDX-License-Identifier: Apache-2.0
// Brings both contents into one order and compares all members.
#include "builder/build/same_contents.hpp"

#include <algorithm>
#include <tuple>

namespace kiln::builder {
namespace {

template <typename Part, typename Key>
void sort_by(std::vector<Part> *parts, Key key) {
  std::sort(parts->begin(), parts->end(),
            [&](const Part &a, const Part &b) { return key(a) < key(b); });
}

void sort_parts(packs::Contents *contents) {
  const auto name = [](const auto &part) -> const std::string & { return part.name; };
  const auto variant = [](const packs::Binary &binary) { return binary.variant; };
  sort_by(&contents->programs, name);
  for (packs::Program &program : contents->programs) sort_by(&program.variants, name);
  sort_by(&contents->targets, [](const packs::Target &t) -> const std::string & { return t.key; });
  for (packs::Target &target : contents->targets) {
    sort_by(&target.binaries, variant);
    sort_by(&target.intermediates, variant);
  }
  sort_by(&contents->cross_checks,
          [](const packs::CrossCheck &c) { return std::tuple(c.device, c.target); });
  sort_by(&contents->tunings, [](const packs::Tuning &t) {
    return std::tie(t.program, t.variant, t.kernel, t.size_class, t.profile, t.family, t.model,
                    t.key_hash);
  });
}

}  // namespace

bool same_contents(packs::Contents *a, packs::Contents *b) {
  sort_parts(a);
  sort_parts(b);
  return *a == *b;
}

}  // namespace kiln::builder

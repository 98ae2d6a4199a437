// SPDX-License-Identifier: Apache-2.0
// Makes the pack that an update of a driver under unchanged strings leaves behind: a target
// that claims one device and holds the binaries of another.
//
//   kiln_forge_pack CLAIMED.kiln HELD.kiln OUTPUT.kiln
//
// Each input has one target. The output has the second's programs and binaries, and the key and
// identity of the first's target.
#include <cstdio>

#include "kiln/packs/writer.hpp"
#include "tests/support/one_target.hpp"

using namespace kiln;

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: kiln_forge_pack CLAIMED.kiln HELD.kiln OUTPUT.kiln\n");
    return 2;
  }
  packs::Contents claimed;
  packs::Contents held;
  if (!test::read_one_target(argv[1], &claimed) || !test::read_one_target(argv[2], &held)) return 4;
  claimed.targets[0].binaries = held.targets[0].binaries;
  held.targets = claimed.targets;
  const packs::Status status = packs::write_pack(held, argv[3]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message.c_str());
  return status.ok() ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// Makes the pack of a fleet: each target of a pack TIMES times, as if of so many driver versions.
//
//   kiln_forge_fleet PACK TIMES OUTPUT.kiln
//
// The copies differ in key and driver version alone.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "kiln/packs/writer.hpp"

using namespace kiln;

int main(int argc, char **argv) {
  const int times = argc == 4 ? std::atoi(argv[2]) : 0;
  if (times < 1) {
    std::fprintf(stderr, "usage: kiln_forge_fleet PACK TIMES OUTPUT.kiln\n");
    return 2;
  }
  std::shared_ptr<const packs::Pack> pack;
  packs::Contents fleet;
  packs::Status status = packs::Pack::open_file(argv[1], &pack);
  if (status.ok()) status = packs::read_contents(pack, &fleet);
  if (status.ok()) {
    const std::vector<packs::Target> targets = fleet.targets;
    for (int number = 1; number < times; ++number) {
      for (packs::Target target : targets) {
        target.key += "copy=" + std::to_string(number) + "\n";
        for (auto &[fact, value] : target.identity)
          if (fact == "driver_version") value += "." + std::to_string(number);
        fleet.targets.push_back(std::move(target));
      }
    }
    status = packs::write_pack(fleet, argv[3]);
  }
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message.c_str());
  return status.ok() ? 0 : 1;
}

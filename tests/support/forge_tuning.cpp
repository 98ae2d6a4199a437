// SPDX-License-Identifier: Apache-2.0
// Puts a work-group size into a pack as if it had been measured on the pack's only target, for a
// kernel of that name in each program and for launches of any size:
//
//   kiln_forge_tuning PACK.kiln KERNEL X Y Z OUTPUT.kiln
//
// Exit codes: 0, 1 nothing was written, 2 wrong arguments, 4 the input is no such pack.
#include <cstdio>
#include <cstdlib>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/writer.hpp"
#include "tests/support/one_target.hpp"

using namespace kiln;

namespace {

void add(const packs::Target &target, const std::string &program, const packs::Variant &variant,
         const packs::Tuning &like, packs::Contents *out) {
  for (const packs::Kernel &kernel : variant.kernels) {
    if (kernel.name != like.kernel) continue;
    for (unsigned i = 0; i < packs::kSizeClasses; ++i) {
      packs::Tuning row = like;
      row.program = program;
      row.variant = variant.name;
      row.size_class = static_cast<packs::SizeClass>(i);
      row.profile = target.profile;
      row.family = target.family;
      row.model = target.model;
      row.key_hash = packs::xxh3(target.key);
      out->tunings.push_back(row);
    }
  }
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: kiln_forge_tuning PACK.kiln KERNEL X Y Z OUTPUT.kiln\n");
    return 2;
  }
  packs::Contents contents;
  if (!test::read_one_target(argv[1], &contents)) return 4;
  packs::Tuning like;
  like.kernel = argv[2];
  for (std::size_t i = 0; i < 3; ++i) {
    like.local_size[i] = static_cast<std::uint32_t>(std::strtoul(argv[3 + i], nullptr, 10));
  }
  like.nanoseconds = 1000;
  like.default_nanoseconds = 2000;
  like.samples = 5;
  like.conditions = "forged";
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      add(contents.targets[0], program.name, variant, like, &contents);
    }
  }
  const packs::Status status = packs::write_pack(contents, argv[6]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message.c_str());
  return status.ok() ? 0 : 1;
}

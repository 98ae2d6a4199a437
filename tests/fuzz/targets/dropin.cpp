// SPDX-License-Identifier: Apache-2.0
// A pack through the reader in C. What it gives must be what the full reader gives, if that takes
// the pack. Hashes are repaired, so that the mutations come past them.
#include "tests/fuzz/targets/target.hpp"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kiln/packs/refs.hpp"
#include "runtime/dropin/kiln_dropin.h"
#include "tests/fuzz/rehash.hpp"

using namespace kiln::packs;

namespace {

void find(const kiln_dropin_pack &pack, const kiln_dropin_target *target, const char *program,
          const char *variant, kiln_dropin_form form, BlobRef blob, const Pack *full) {
  static unsigned char memory[1 << 16];
  kiln_dropin_code code;
  const char *why =
      kiln_dropin_find(&pack, target, program, variant, form, memory, sizeof(memory), &code);
  if (why != nullptr || full == nullptr) return;
  Bytes scratch;
  View view;
  if (!full->read_blob(blob, &scratch, &view).ok()) return;
  const bool same = view.size == code.size &&
                    (view.size == 0 || std::memcmp(view.data, code.bytes, view.size) == 0);
  if (!same) std::abort();
}

void read_all(const kiln_dropin_pack &pack, const Pack &full) {
  static const kiln_dropin_device device = {};
  ProgramRefs programs;
  if (!full.programs(&programs).ok()) return;
  for (const ProgramRef program : programs) {
    const std::string name(program.name());
    for (const VariantRef variant : program.variants()) {
      const std::string of(variant.name());
      find(pack, nullptr, name.c_str(), of.c_str(), KILN_DROPIN_SOURCE, full.blob(variant.source()),
           &full);
      find(pack, nullptr, name.c_str(), of.c_str(), KILN_DROPIN_IL64, full.blob(variant.il64()),
           &full);
      for (std::size_t i = 0; i < full.target_count(); ++i) {
        kiln_dropin_target target;
        TargetRef section;
        const std::uint64_t key = full.target_key_hash(i);
        if (i != 0 && key == full.target_key_hash(i - 1)) continue;  // the first is found
        if (kiln_dropin_find_target(&pack, &device, key, &target) != nullptr) continue;
        const bool sound = full.target(i, &section).ok();
        const BinaryRef binary = sound ? section.find_binary(variant.hash()) : BinaryRef();
        find(pack, &target, name.c_str(), of.c_str(), KILN_DROPIN_BINARY, binary.blob,
             binary ? &full : nullptr);
      }
    }
  }
}

// As far as it comes by names of the golden packs.
void read_some(const kiln_dropin_pack &pack) {
  static const kiln_dropin_device device = {};
  kiln_dropin_target target;
  if (kiln_dropin_find_target(&pack, &device, 0, &target) != nullptr) return;
  for (const char *variant : {"scalar", "wide"}) {
    find(pack, &target, "blur", variant, KILN_DROPIN_BINARY, {}, nullptr);
    find(pack, &target, "blur", variant, KILN_DROPIN_SOURCE, {}, nullptr);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::vector<std::uint64_t> aligned(size / 8 + 1);
  if (size != 0) std::memcpy(aligned.data(), data, size);
  const View bytes{reinterpret_cast<const std::uint8_t *>(aligned.data()), size};
  kiln::test::rehash(bytes);
  std::shared_ptr<const Pack> full;
  if (Pack::open_memory(bytes, &full).ok()) {
    full.reset();
    kiln::test::rehash_sections(bytes);
    (void)Pack::open_memory(bytes, &full);
  }
  kiln_dropin_pack pack;
  if (kiln_dropin_open(&pack, bytes.data, bytes.size) != nullptr) {
    // It reads no frames, and says so.
    if (full != nullptr && (full->superblock().incompat & kIncompatFrames) == 0) std::abort();
    return 0;
  }
  read_some(pack);
  if (full != nullptr) read_all(pack, *full);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// A pack: superblock, root, sections and blobs, through the reader and through read_contents().
// Hashes are repaired, so that the mutations come past them.
#include "tests/fuzz/targets/target.hpp"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "kiln/packs/contents.hpp"
#include "tests/fuzz/rehash.hpp"

using namespace kiln::packs;
using kiln::test::rehash;
using kiln::test::rehash_sections;

namespace {

constexpr std::uint64_t kMaxDecoded = 1u << 20;  // of a blob; more would only take time

void read_all(const std::shared_ptr<const Pack> &pack) {
  for (const fb::Blob *blob : *pack->schema().blobs()) {
    Bytes scratch;
    View view;
    if (blob->raw_size() <= kMaxDecoded) (void)pack->read_blob(BlobRef(blob), &scratch, &view);
  }
  for (std::size_t i = 0; i < pack->target_count(); ++i) {
    TargetRef section;
    (void)pack->target(i, &section);
  }
  ProgramRefs programs;
  const bool all = pack->programs(&programs).ok();
  VariantRef variant;
  (void)pack->find_variant("scale", "plain", &variant);
  for (std::uint32_t i = 0; all && i < programs.size(); ++i) {
    ProgramRef found;  // judged alone as with the others
    if (!pack->find_program(programs[i].name(), &found).ok() || found != programs[i]) std::abort();
  }
  Contents contents;
  (void)read_contents(pack, &contents);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::vector<std::uint64_t> aligned(size / 8 + 1);
  if (size != 0) std::memcpy(aligned.data(), data, size);
  const View bytes{reinterpret_cast<const std::uint8_t *>(aligned.data()), size};
  std::shared_ptr<const Pack> pack;
  if (!Pack::open_memory(bytes, &pack).ok()) {
    rehash(bytes);
    if (!Pack::open_memory(bytes, &pack).ok()) return 0;
  }
  pack.reset();
  rehash_sections(bytes);
  if (Pack::open_memory(bytes, &pack).ok()) read_all(pack);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// What a pack says of itself is held against what is in it.
#include "kiln/packs/layout.hpp"

#include <functional>

#include "tests/packs/forge.hpp"

using namespace kiln::packs;
using namespace kiln::test;

TEST_CASE("a source that is not the one which its hash names is found", "[soundness]") {
  Contents contents;
  Variant honest = variant("v", "kernel void v() {}");
  honest.hash = variant_hash("kernel void v() {}", honest.options, {"v"});
  contents.programs = {{"p", "", {honest}}};
  const auto check = [](const Contents &packed) {
    const Contents read = contents_of(opened(written(packed)));
    return check_variant_hash(read.programs[0].name, read.programs[0].variants[0]);
  };
  CHECK(check(contents).ok());
  // The hash is over all three, and knows where one ends.
  CHECK(variant_hash("ab", "c", {"k"}) != variant_hash("a", "bc", {"k"}));
  CHECK(variant_hash("ab", "c", {"k"}) != variant_hash("ab", "c", {"k", "l"}));
  const std::function<void(Variant *)> forgeries[] = {
      [](Variant *v) { v->source = BlobSource(bytes_of("kernel void v() { steal(); }")); },
      [](Variant *v) { v->options += " -DX"; },
      [](Variant *v) { v->kernels[0].name = "w"; },
      [](Variant *v) { v->hash[31] ^= 1; },
  };
  for (const auto &forge_it : forgeries) {
    Contents forged = contents;
    forge_it(&forged.programs[0].variants[0]);
    const Status status = check(forged);
    CHECK(status.code == Code::conflict);
    CHECK(mentions(status.message, "program p, variant v"));
  }
}

namespace {

bool any_blob_is_damaged(const Pack &pack) {
  bool damaged = false;
  const auto read = [&](const flatbuffers::Vector<const fb::Blob *> &blobs) {
    for (const fb::Blob *blob : blobs) {
      Bytes scratch;
      View view;
      damaged |= !pack.read_blob(BlobRef(blob), &scratch, &view).ok();
    }
  };
  read(*pack.schema().blobs());
  for (std::size_t i = 0; i < pack.target_count(); ++i) {
    TargetRef target;
    if (pack.target(i, &target).ok()) read(*target.schema().blobs());
  }
  return damaged;
}

}  // namespace

TEST_CASE("a pack holds nothing but what its format describes", "[soundness]") {
  Contents contents = sample();
  const Bytes good = written(contents);
  CHECK(check_layout(*opened(good)).ok());
  // Every byte that no hash covers: the padding between the parts.
  const PackPointer pack = opened(good);
  unsigned found = 0;
  unsigned same = 0;
  for (std::size_t i = kSuperblockSize; i < good.size(); ++i) {
    Bytes changed = good;
    changed[i] ^= 1;
    PackPointer pack_on_device;
    if (!open(changed, &pack_on_device).ok()) continue;  // the root's hash
    const Status layout = check_layout(*pack_on_device);
    if (layout.code == Code::reserved_not_zero) ++found;
    if (!layout.ok()) continue;
    if (!any_blob_is_damaged(*pack_on_device)) ++same;
  }
  CHECK(same < 10);  // bits of a compressed frame that decode to the same
  CHECK(found > 20);
  // A target's name that is not its section's.
  Forge forge;
  ForgedRoot root;
  TargetValues target(forge.section(ForgedSection{}));
  target.name = hash_of(name_of("another section"));
  root.targets = {target};
  const Bytes named = forge.finish(root);
  CHECK(check_layout(*opened(named)).code == Code::section_corrupt);
}

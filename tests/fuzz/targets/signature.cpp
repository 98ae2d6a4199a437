// SPDX-License-Identifier: Apache-2.0
// Signatures: the block behind a root, files of public keys, and a detached signature. The block's
// hash is repaired.
#include "tests/fuzz/targets/target.hpp"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/signing.hpp"

using namespace kiln::packs;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

// What is read is what would be written.
void read_block(View block) {
  std::vector<Signature> signatures;
  if (!decode_signatures(block, 0, &signatures).ok()) return;
  const Bytes again = encode_signatures(signatures);
  check(again == Bytes(block.data, block.data + block.size));
}

const Pack &golden_pack() {
  static const std::shared_ptr<const Pack> pack = [] {
    std::shared_ptr<const Pack> opened;
    check(Pack::open_file(KILN_SOURCE_DIR "/packs/golden/good-v1.kiln", &opened).ok());
    return opened;
  }();
  return *pack;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  Bytes block(data, data + size);
  read_block({block.data(), block.size()});
  if (size >= 8) {
    const std::uint64_t hash = xxh3(block.data(), size - 8);
    for (unsigned i = 0; i < 8; ++i) {
      block[size - 8 + i] = static_cast<std::uint8_t>(hash >> (8 * i));
    }
    read_block({block.data(), block.size()});
  }
  const std::string text(data, data + size);
  PublicKey key;
  (void)parse_public_key(text, &key);
  const std::size_t half = text.find('\0');
  if (half == std::string::npos) return 0;
  Signature signature;
  (void)read_detached(golden_pack(), {text.substr(0, half), text.substr(half + 1)}, &signature);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// A file of an overlay with one binary. The hashes are repaired.
#include "runtime/overlay/entry.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "kiln/packs/bytes.hpp"
#include "tests/fuzz/targets/target.hpp"

using namespace kiln;
using namespace kiln::runtime;

namespace {

std::size_t sink = 0;

void use(const OverlayEntry &entry) {
  sink += entry.fact("profile").size() + entry.fact("").size();
  sink += static_cast<std::size_t>(entry.finality());
  sink += entry_name(packs::xxh3(entry.key), entry.variant).size();
}

// The input's first bytes as sizes and its rest as texts: an entry that is sound, but for what the
// next byte flips in its header.
std::vector<std::uint8_t> forged(const std::uint8_t *data, std::size_t size) {
  const std::size_t key = data[0], facts = data[1], flip = data[2];
  const std::string text(reinterpret_cast<const char *>(data) + 3, size - 3);
  if (key + facts >= text.size()) return {};
  OverlayEntry entry;
  entry.key = std::string_view(text).substr(0, key);
  entry.facts = std::string_view(text).substr(key, facts);
  entry.binary = {data + 3 + key + facts, text.size() - key - facts};
  entry.binary_xxh3 = packs::xxh3(entry.binary.data, entry.binary.size);
  std::vector<std::uint8_t> file(kEntryHeaderSize);
  encode_entry_header(entry, file.data());
  if (flip < 88) {  // where the header's own hash is
    file[flip] = static_cast<std::uint8_t>(file[flip] ^ data[3]);
    const std::uint64_t hash = packs::xxh3(file.data(), 88);
    std::memcpy(file.data() + 88, &hash, sizeof hash);
  }
  file.insert(file.end(), text.begin(), text.end());
  return file;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  OverlayEntry entry;
  (void)parse_entry({data, size}, &entry);
  use(entry);
  if (size < 4) return 0;
  const std::vector<std::uint8_t> file = forged(data, size);
  OverlayEntry again;
  (void)parse_entry({file.data(), file.size()}, &again);
  use(again);
  return 0;
}

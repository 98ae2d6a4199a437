// SPDX-License-Identifier: Apache-2.0
// Mesa's cache: a pack's blob of cache entries, and a database that Mesa wrote. Checksums are
// repaired.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/provision/mesa_cache.hpp"
#include "tests/fuzz/targets/target.hpp"

using namespace kiln;
using namespace kiln::runtime;

namespace {

// Without the complement at its end, as Mesa has it.
std::uint32_t crc32(const std::uint8_t *data, std::size_t size) {
  std::uint32_t crc = 0xffffffffu;
  for (std::size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
  }
  return crc;
}

// Of the entries from `at` on, as far as their sizes go.
void repair(std::vector<std::uint8_t> *bytes, std::size_t at) {
  constexpr std::size_t kHead = kMesaKeySize + kMesaHeaderSize;
  while (at <= bytes->size() && bytes->size() - at >= kHead) {
    std::uint8_t *header = bytes->data() + at + kMesaKeySize;
    std::uint32_t payload;
    std::memcpy(&payload, header, sizeof payload);
    if (payload > bytes->size() - at - kHead) return;
    const std::uint32_t sum = crc32(header + kMesaHeaderSize, payload);
    std::memcpy(header + 8, &sum, sizeof sum);
    at += kHead + payload;
  }
}

void join(packs::View blob, packs::View foz) {
  MesaBlob parsed;
  if (!parse_mesa_blob(blob, &parsed).ok()) return;
  if (!is_mesa_place(parsed.place)) std::abort();
  MesaJoin joined;
  if (!joined.start(foz).ok()) return;
  joined.add(parsed.entries);
  FozFiles files;
  joined.finish(&files);
  std::vector<MesaEntry> again;
  if (!parse_foz({files.foz.data(), files.foz.size()}, &again).ok()) std::abort();
}

void split(packs::View foz) {
  packs::Bytes blob;
  MesaBlob parsed;
  if (!split_foz("0123/llvmpipe", foz, {}, &blob).ok()) return;
  if (!parse_mesa_blob({blob.data(), blob.size()}, &parsed).ok()) std::abort();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0) return 0;
  std::vector<std::uint8_t> bytes(data, data + size);
  split({bytes.data(), size});
  join({bytes.data(), size}, {bytes.data(), size});
  repair(&bytes, kFozMagicSize);
  split({bytes.data(), size});
  const auto *line = static_cast<const std::uint8_t *>(std::memchr(bytes.data(), '\n', size));
  if (line == nullptr) return 0;
  const std::size_t head = static_cast<std::size_t>(line - bytes.data()) + 1;
  repair(&bytes, head);
  std::vector<std::uint8_t> foz = {0x81, 'F', 'O', 'S', 'S', 'I', 'L', 'I',
                                   'Z',  'E', 'D', 'B', 0,   0,   0,   6};
  join({bytes.data(), size}, {foz.data(), foz.size()});
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// An overlay's journal, as it lies on disk and with the records' checks repaired.
#include "runtime/overlay/journal.hpp"

#include <cstring>
#include <vector>

#include "kiln/packs/bytes.hpp"
#include "tests/fuzz/targets/target.hpp"

using namespace kiln::runtime;

namespace {

std::size_t sink = 0;

void use(const Journal &journal) {
  sink += journal.label().size();
  for (const Record &record : journal.records()) {
    const History history = journal.history({record.id, record.rung});
    sink += static_cast<std::size_t>(history.last) + history.rung.deaths;
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size > kMaxJournalSize / 16) return 0;  // each record is looked up among all
  use(Journal({data, size}));
  std::vector<std::uint8_t> sound(data, data + size);
  for (std::size_t at = 0; at + kRecordSize <= size; at += kRecordSize) {
    const std::uint64_t hash = kiln::packs::xxh3(sound.data() + at, 12);
    std::memcpy(sound.data() + at + 12, &hash, 4);
  }
  use(Journal({sound.data(), sound.size()}));
  return 0;
}

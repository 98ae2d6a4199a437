// SPDX-License-Identifier: Apache-2.0
// Records of journals as other versions write them: numbers on disk.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "kiln/packs/bytes.hpp"
#include "runtime/overlay/journal.hpp"

namespace kiln::test {

// Replaces a byte of a record, and repairs its check.
inline void set_byte(std::uint8_t *record, std::size_t at, unsigned value) {
  record[at] = static_cast<std::uint8_t>(value);
  const std::uint64_t hash = packs::xxh3(record, 12);
  std::memcpy(record + 12, &hash, 4);
}

// Replaces the event `from` by `to` in all journals of the folder. Returns the number of records
// that had it.
inline std::size_t replace_event(const std::filesystem::path &overlay, unsigned from, unsigned to) {
  std::size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(overlay)) {
    if (entry.path().filename().string().rfind("d-", 0) != 0) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::string file((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    for (std::size_t at = runtime::kJournalHeaderSize; at + runtime::kRecordSize <= file.size();
         at += runtime::kRecordSize) {
      auto *const bytes = reinterpret_cast<std::uint8_t *>(&file[at]);
      if (bytes[8] != from) continue;
      set_byte(bytes, 8, to);
      ++count;
    }
    std::ofstream(entry.path(), std::ios::binary) << file;
  }
  return count;
}

}  // namespace kiln::test

// SPDX-License-Identifier: Apache-2.0
// The verdicts in an overlay's journals, as numbers on disk, and journals as earlier versions wrote
// them.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/overlay/journal.hpp"

namespace kiln::test {

// Replaces the verdict `from` by `to` in all journals of the folder. Returns the number of records
// that had it.
inline std::size_t replace_verdict(const std::filesystem::path &overlay, unsigned from,
                                   unsigned to) {
  std::size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(overlay)) {
    if (entry.path().filename().string().rfind("d-", 0) != 0) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::string file((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    for (std::size_t at = runtime::kJournalHeaderSize; at + runtime::kRecordSize <= file.size();
         at += runtime::kRecordSize) {
      auto *const bytes = reinterpret_cast<std::uint8_t *>(&file[at]);
      runtime::Record record = runtime::decode_record(bytes);
      if (static_cast<unsigned>(record.verdict) != from) continue;
      record.verdict = static_cast<runtime::Verdict>(to);
      runtime::encode_record(record, bytes);
      ++count;
    }
    std::ofstream(entry.path(), std::ios::binary) << file;
  }
  return count;
}

}  // namespace kiln::test

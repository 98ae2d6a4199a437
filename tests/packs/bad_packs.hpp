// SPDX-License-Identifier: Apache-2.0
// The bad packs and deltas of the table in packs/golden/README.md: each is a golden one with
// changes, which tests/cli/damage.py describes.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/packs/bytes.hpp"

namespace kiln::test {

struct BadPack {
  std::string name;
  std::vector<std::uint8_t> bytes;
  std::string fault;  // the name of its code
};

inline void change(const std::string &what, std::vector<std::uint8_t> *bytes) {
  const std::string kind = what.substr(0, what.find(':'));
  const std::string value = what.substr(kind.size() + (kind == what ? 0 : 1));
  const auto from_hex = [](const std::string &hex) {
    std::vector<std::uint8_t> made;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
      made.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    }
    return made;
  };
  const auto size = static_cast<long>(bytes->size());
  const long number = kind == "seal" || kind == "append" ? 0 : std::stol(value);
  const long place = number < 0 ? size + number : number;
  if (kind == "cut") {
    bytes->resize(static_cast<std::size_t>(place));
  } else if (kind == "drop") {
    bytes->erase(bytes->begin() + place);
  } else if (kind == "flip") {
    (*bytes)[static_cast<std::size_t>(place)] ^= 0xff;
  } else if (kind == "set") {
    const auto made = from_hex(value.substr(value.find('=') + 1));
    std::copy(made.begin(), made.end(), bytes->begin() + place);
  } else if (kind == "append") {
    const auto made = from_hex(value);
    bytes->insert(bytes->end(), made.begin(), made.end());
  } else if (kind == "seal") {
    const std::uint64_t hash = packs::xxh3(bytes->data(), 56);
    for (unsigned i = 0; i < 8; ++i) (*bytes)[56 + i] = static_cast<std::uint8_t>(hash >> (8 * i));
  } else {
    std::abort();
  }
}

// `golden` is the folder packs/golden.
inline std::vector<BadPack> bad_packs(const std::string &golden) {
  std::vector<BadPack> found;
  std::ifstream table(golden + "/README.md");
  for (std::string line; std::getline(table, line);) {
    if (line.rfind("| `bad-", 0) != 0 && line.rfind("| `untrusted-", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) {
      const std::size_t begin = cell.find_first_not_of(" `");
      cells.push_back(cell.substr(begin, cell.find_last_not_of(" `") + 1 - begin));
    }
    std::ifstream file(golden + "/" + cells.at(1), std::ios::binary);
    BadPack bad{cells.at(0), {std::istreambuf_iterator<char>(file), {}}, cells.at(4)};
    std::istringstream changes(cells.at(2));
    for (std::string each; changes >> each;) change(each, &bad.bytes);
    found.push_back(std::move(bad));
  }
  return found;
}

}  // namespace kiln::test

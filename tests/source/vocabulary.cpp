// SPDX-License-Identifier: Apache-2.0
#include "tests/source/vocabulary.hpp"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace kiln::cases {
namespace {

using Sections = std::map<std::string, std::vector<std::string>>;

constexpr char kClass[] = "class ";
// Sections with an entry in each line; in all others, blanks separate entries.
constexpr char kOfLines[] = "pragmas";

Sections read_sections() {
  std::ifstream file(KILN_VOCABULARY);
  Sections sections;
  std::string name;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      name = line.substr(1, line.size() - 2);
      sections[name];
    } else if (name.starts_with(kOfLines)) {
      sections[name].push_back(line);
    } else {
      std::istringstream entries(line);
      for (std::string word; entries >> word;) sections[name].push_back(word);
    }
  }
  if (sections.empty()) {
    std::cerr << "cannot read " KILN_VOCABULARY "\n";
    std::exit(1);
  }
  return sections;
}

const Sections &sections() {
  static const Sections all = read_sections();
  return all;
}

// Also for surrogates, as some writers do.
std::string in_utf8(unsigned long code) {
  const auto byte = [](unsigned long value) { return static_cast<char>(value); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 | code >> 6), byte(0x80 | (code & 63))};
  if (code < 0x10000)
    return {byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 63)), byte(0x80 | (code & 63))};
  return {byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 63)), byte(0x80 | (code >> 6 & 63)),
          byte(0x80 | (code & 63))};
}

std::string character_of(const std::string &range, Random &random) {
  const unsigned long first = std::strtoul(range.c_str(), nullptr, 16);
  const std::size_t dash = range.find('-');
  const unsigned long last =
      dash == std::string::npos ? first : std::strtoul(range.c_str() + dash + 1, nullptr, 16);
  return in_utf8(first + random.below(last - first + 1));
}

// A class whose name begins with one of these letters, all letters equally likely.
std::string character_of_groups(const std::string &groups, Random &random) {
  const std::string group = kClass + std::string(1, groups[random.below(groups.size())]);
  std::vector<std::string> classes;
  for (const auto &[name, ranges] : sections()) {
    if (name.starts_with(group)) classes.push_back(name);
  }
  const std::vector<std::string> &ranges = words(random.pick(classes));
  return character_of(random.chance(30) ? ranges[0] : random.pick(ranges), random);
}

}  // namespace

const std::vector<std::string> &words(const std::string &section) {
  static const std::vector<std::string> none;
  const auto found = sections().find(section);
  return found == sections().end() ? none : found->second;
}

std::string some_character(Random &random) {
  switch (random.below(12)) {
    case 0: return {static_cast<char>(random.below(256))};
    case 1: return in_utf8(random.below(0x80));
    case 2: return in_utf8(random.below(0x3100));
    default: return character_of_groups("LMNPSZC", random);
  }
}

std::string some_identifier_character(Random &random) {
  if (random.chance(50)) return character_of_groups("LMN", random);
  const std::string section = kClass + random.pick<std::string>({"Pc", "Sc", "Cf"});
  const std::vector<std::string> &ranges = words(section);
  return character_of(random.chance(50) ? ranges[0] : random.pick(ranges), random);
}

}  // namespace kiln::cases

// SPDX-License-Identifier: Apache-2.0
// The verifier's table is pack.fbs, and what it accepts FlatBuffers' own verifier accepts.
#include <random>
#include <sstream>

#include "packs/read/verifier.hpp"
#include "tests/packs/forge.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

struct SchemaField {
  std::string table;
  std::string name;
  std::string type;
  bool required;
};

// The fields of the tables of pack.fbs, in its order.
std::vector<SchemaField> schema_fields() {
  const Bytes bytes = read_file(std::filesystem::path(KILN_SOURCE_DIR) / "packs" / "pack.fbs");
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  std::vector<SchemaField> fields;
  std::string table;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "table") words >> table;
    if (first == "struct") table.clear();
    const std::size_t colon = line.find(':');
    if (table.empty() || colon == std::string::npos || first == "//") continue;
    const std::size_t end = line.find_first_of(" ;", colon);
    fields.push_back({table, line.substr(2, colon - 2), line.substr(colon + 1, end - colon - 1),
                      mentions(line, "required")});
  }
  return fields;
}

std::size_t size_of(const std::string &type) {
  const std::map<std::string, std::size_t> sizes = {{"ubyte", 1},
                                                    {"bool", 1},
                                                    {"uint", 4},
                                                    {"long", 8},
                                                    {"ulong", 8},
                                                    {"double", 8},
                                                    {"Hash", sizeof(fb::Hash)},
                                                    {"Size3", sizeof(fb::Size3)},
                                                    {"Blob", sizeof(fb::Blob)},
                                                    {"TargetEntry", sizeof(fb::TargetEntry)},
                                                    {"Binary", sizeof(fb::Binary)},
                                                    {"KernelFacts", sizeof(fb::KernelFacts)},
                                                    {"Parameter", sizeof(fb::Parameter)},
                                                    {"Statistic", sizeof(fb::Statistic)},
                                                    {"Tuning", sizeof(fb::Tuning)},
                                                    {"KnownBad", sizeof(fb::KnownBad)}};
  const auto found = sizes.find(type);
  return found == sizes.end() ? 0 : found->second;
}

const std::map<std::string, TableKind> kTables = {
    {"Kernel", TableKind::kernel},   {"Argument", TableKind::argument},
    {"Variant", TableKind::variant}, {"Program", TableKind::program},
    {"Root", TableKind::root},       {"Fact", TableKind::fact},
    {"Section", TableKind::section}, {"Provenance", TableKind::provenance}};

template <typename Table>
bool flatbuffers_accepts(const Bytes &bytes) {
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 16, 1000000);
  return verifier.VerifyBuffer<Table>(nullptr);
}

// Changes of a good buffer that this verifier accepts and FlatBuffers' does not.
template <typename Table>
unsigned disagreements(const Bytes &good, TableKind kind) {
  std::minstd_rand engine(7);
  const auto random = [&] { return static_cast<unsigned>(engine()) >> 4; };
  unsigned accepted = 0;
  unsigned wrong = 0;
  for (unsigned i = 0; i < 60'000; ++i) {
    Bytes bytes = good;
    for (unsigned changes = 1 + random() % 3; changes != 0; --changes) {
      const std::size_t at = random() % bytes.size();
      bytes[at] =
          static_cast<std::uint8_t>(random() % 3 == 0 ? random() : bytes[at] + random() % 9);
    }
    const View view{bytes.data(), bytes.size()};
    if (!verify_buffer(view, kind)) continue;
    if (kind == TableKind::root &&
        !check_programs(view, *flatbuffers::GetRoot<fb::Root>(bytes.data())).ok()) {
      continue;
    }
    ++accepted;
    wrong += flatbuffers_accepts<Table>(bytes) ? 0 : 1;
  }
  CHECK(accepted > 100);
  return wrong;
}

}  // namespace

TEST_CASE("the verifier knows each field of the schema", "[schema]") {
  std::map<std::string, std::size_t> counts;
  for (const SchemaField &field : schema_fields()) {
    CAPTURE(field.table, field.name, field.type);
    REQUIRE(kTables.count(field.table) == 1);
    const TableRule rule = rule_of(kTables.at(field.table));
    const std::size_t index = counts[field.table]++;
    REQUIRE(index < rule.count);
    const FieldRule &known = rule.fields[index];
    CHECK(known.required == field.required);
    const bool vector = field.type[0] == '[';
    const std::string type = vector ? field.type.substr(1, field.type.size() - 2) : field.type;
    if (type == "string") {
      CHECK(known.kind == (vector ? Kind::texts : Kind::text));
    } else if (kTables.count(type) != 0) {
      CHECK(known.kind == (type == "Program" ? Kind::later : Kind::tables));
      CHECK(known.table == kTables.at(type));
    } else {
      CHECK(known.kind == (vector ? Kind::numbers : Kind::number));
      REQUIRE(size_of(type) != 0);
      CHECK(known.size == size_of(type));
    }
  }
  CHECK(counts.size() == kTables.size());
  for (const auto &[table, kind] : kTables) CHECK(counts[table] == rule_of(kind).count);
}

TEST_CASE("what the verifier accepts FlatBuffers' own accepts", "[schema]") {
  const Bytes bytes = written(statistics_sample());
  const PackPointer pack = opened(bytes);
  const auto slice = [&](std::uint64_t offset, std::uint64_t size) {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
    return Bytes(begin, begin + static_cast<std::ptrdiff_t>(size));
  };
  const Superblock &superblock = pack->superblock();
  const Bytes root = slice(superblock.root_offset, superblock.root_size);
  CHECK(flatbuffers_accepts<fb::Root>(root));
  CHECK(disagreements<fb::Root>(root, TableKind::root) == 0);
  const fb::TargetEntry &target = *pack->schema().targets()->Get(0);
  const Bytes section = slice(target.offset(), target.size());
  CHECK(disagreements<fb::Section>(section, TableKind::section) == 0);
}

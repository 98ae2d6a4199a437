// SPDX-License-Identifier: Apache-2.0
// Packs whose hashes agree and whose tunings or parameters break a rule of FORMAT.md.
#include "tests/packs/forge.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

Code root_fault(const ForgedRoot &root) { return fault_of_pack(Forge().finish(root)); }

Code tunings(std::vector<fb::Tuning> rows, std::vector<std::string> texts = {"", "a", "b"}) {
  ForgedRoot root;
  root.tunings = std::move(rows);
  root.texts = std::move(texts);
  return root_fault(root);
}

// The fault of one row after `spoil`.
template <typename Spoil>
Code spoiled(Spoil spoil) {
  ForgedTuning row;
  spoil(&row);
  return tunings({row});
}

}  // namespace

TEST_CASE("empty vectors of records are as good as none", "[forged]") {
  CHECK(root_fault({}) == Code::ok);
}

TEST_CASE("tunings have a hash each, or none", "[forged]") {
  const auto fault = [](std::size_t rows, std::size_t hashes) {
    ForgedRoot root;
    for (std::size_t i = 0; i < rows; ++i) {
      ForgedTuning row;
      row.key_hash = i + 1;
      root.tunings.push_back(row);
    }
    root.tuned_variants.assign(hashes, hash_of(name_of("text")));
    return root_fault(root);
  };
  CHECK(fault(2, 0) == Code::ok);
  CHECK(fault(2, 2) == Code::ok);
  CHECK(fault(2, 1) == Code::root_malformed);
  CHECK(fault(2, 3) == Code::root_malformed);
  CHECK(fault(0, 1) == Code::root_malformed);
}

TEST_CASE("tunings must rise by kernel, size class and device", "[forged]") {
  const auto pair = [](void (*change)(ForgedTuning *)) {
    ForgedTuning low;
    ForgedTuning high;
    change(&high);
    CHECK(tunings({high, low}) == Code::root_malformed);
    return tunings({low, high});
  };
  CHECK(pair([](ForgedTuning *) {}) == Code::root_malformed);
  // What is not part of the place makes no second row.
  CHECK(pair([](ForgedTuning *t) { t->samples = 2; }) == Code::root_malformed);
  CHECK(pair([](ForgedTuning *t) { t->spread = 2; }) == Code::root_malformed);
  CHECK(pair([](ForgedTuning *t) { t->local_size = {9, 9, 9}; }) == Code::root_malformed);
  CHECK(pair([](ForgedTuning *t) { t->conditions = 2; }) == Code::root_malformed);
  CHECK(pair([](ForgedTuning *t) { t->program = 2; }) == Code::ok);
  CHECK(pair([](ForgedTuning *t) { t->variant = 2; }) == Code::ok);
  CHECK(pair([](ForgedTuning *t) { t->kernel = 2; }) == Code::ok);
  CHECK(pair([](ForgedTuning *t) { t->size_class = 1; }) == Code::ok);
  CHECK(pair([](ForgedTuning *t) { t->profile = 2; }) == Code::ok);
  CHECK(pair([](ForgedTuning *t) { t->family = 2; }) == Code::ok);
  CHECK(pair([](ForgedTuning *t) { t->model = 2; }) == Code::ok);
  CHECK(pair([](ForgedTuning *t) { t->key_hash = 2; }) == Code::ok);
  // The earlier field decides.
  const ForgedTuning a{1, 1, 1, 0, 2, 2, 2, 9};
  const ForgedTuning b{1, 1, 1, 1, 1, 1, 1, 1};
  CHECK(tunings({a, b}) == Code::ok);
  CHECK(tunings({b, a}) == Code::root_malformed);
}

TEST_CASE("a tuning belongs to a variant and a known size class", "[forged]") {
  CHECK(spoiled([](ForgedTuning *) {}) == Code::ok);
  CHECK(spoiled([](ForgedTuning *t) { t->program = 0; }) == Code::root_malformed);
  CHECK(spoiled([](ForgedTuning *t) { t->variant = 0; }) == Code::root_malformed);
  CHECK(spoiled([](ForgedTuning *t) { t->kernel = 0; }) == Code::ok);  // of the whole variant
  CHECK(spoiled([](ForgedTuning *t) { t->size_class = 2; }) == Code::ok);
  CHECK(spoiled([](ForgedTuning *t) { t->size_class = 3; }) == Code::root_malformed);
  CHECK(spoiled([](ForgedTuning *t) { t->size_class = 0x01000000; }) == Code::root_malformed);
  CHECK(spoiled([](ForgedTuning *t) { t->reserved = 1; }) == Code::reserved_not_zero);
}

TEST_CASE("a tuning's texts are among the root's", "[forged]") {
  for (const std::uint32_t none : {3u, 0x7fffffffu, 0xffffffffu}) {
    CHECK(spoiled([=](ForgedTuning *t) { t->program = none; }) == Code::out_of_bounds);
    CHECK(spoiled([=](ForgedTuning *t) { t->variant = none; }) == Code::out_of_bounds);
    CHECK(spoiled([=](ForgedTuning *t) { t->kernel = none; }) == Code::out_of_bounds);
    CHECK(spoiled([=](ForgedTuning *t) { t->profile = none; }) == Code::out_of_bounds);
    CHECK(spoiled([=](ForgedTuning *t) { t->family = none; }) == Code::out_of_bounds);
    CHECK(spoiled([=](ForgedTuning *t) { t->model = none; }) == Code::out_of_bounds);
    CHECK(spoiled([=](ForgedTuning *t) { t->conditions = none; }) == Code::out_of_bounds);
  }
  CHECK(tunings({ForgedTuning{}}, {}) == Code::out_of_bounds);
}

TEST_CASE("a kernel has no parameters or one for each argument", "[forged]") {
  const auto parameters = [](std::vector<fb::Parameter> rows) {
    ForgedRoot root;
    root.programs[0].variants[0].parameters = std::move(rows);
    return root_fault(root);
  };
  const auto one = [&](std::uint32_t name, std::uint32_t type, std::uint8_t space,
                       std::uint8_t access, std::uint8_t qualifiers, std::uint8_t reserved) {
    return parameters({fb::Parameter(name, type, 4, space, access, qualifiers, reserved)});
  };
  CHECK(parameters({}) == Code::ok);
  CHECK(one(1, 2, 3, 3, 15, 0) == Code::ok);
  CHECK(one(0, 0, 0, 0, 0, 0) == Code::ok);
  CHECK(parameters(std::vector<fb::Parameter>(2)) == Code::root_malformed);
  CHECK(one(3, 0, 0, 0, 0, 0) == Code::out_of_bounds);
  CHECK(one(0, 0xffffffff, 0, 0, 0, 0) == Code::out_of_bounds);
  CHECK(one(0, 0, 4, 0, 0, 0) == Code::root_malformed);
  CHECK(one(0, 0, 0, 4, 0, 0) == Code::root_malformed);
  CHECK(one(0, 0, 0, 0, 16, 0) == Code::root_malformed);
  CHECK(one(0, 0, 0, 0, 0, 1) == Code::reserved_not_zero);
}

TEST_CASE("parameters share their texts, but not very long ones", "[forged]") {
  ForgedRoot root;
  root.texts = {"", std::string(100'000, 'x')};
  ForgedVariant &variant = root.programs[0].variants[0];
  variant.parameters = {fb::Parameter(1, 1, 0, 0, 0, 0, 0)};
  variant.kernels.clear();
  for (int i = 0; i < 8; ++i) variant.kernels.push_back("k" + std::to_string(i));
  CHECK(root_fault(root) == Code::ok);
  variant.kernels.push_back("k8");
  CHECK(root_fault(root) == Code::over_limit);
}

TEST_CASE("texts must rise", "[forged]") {
  const auto texts = [](std::vector<std::string> list) { return tunings({}, std::move(list)); };
  CHECK(texts({}) == Code::ok);
  CHECK(texts({""}) == Code::ok);
  CHECK(texts({"", "B", "a", "aa", "\xc3\xa9"}) == Code::ok);
  CHECK(texts({"a", ""}) == Code::root_malformed);
  CHECK(texts({"", ""}) == Code::root_malformed);
  CHECK(texts({"a", "a"}) == Code::root_malformed);
  CHECK(texts({"a", "B"}) == Code::root_malformed);
  CHECK(texts({std::string("a\0", 2)}) == Code::root_malformed);
  // Without an empty text the first is a name like any other.
  CHECK(tunings({ForgedTuning{0, 0, 0, 0, 0, 0, 0, 1}}, {"a"}) == Code::ok);
}

TEST_CASE("a tuned size has no zero", "[forged]") {
  CHECK(spoiled([](ForgedTuning *t) { t->local_size = {1, 1, 1}; }) == Code::ok);
  CHECK(spoiled([](ForgedTuning *t) { t->local_size = {0, 1, 1}; }) == Code::root_malformed);
  CHECK(spoiled([](ForgedTuning *t) { t->local_size = {1, 0, 1}; }) == Code::root_malformed);
  CHECK(spoiled([](ForgedTuning *t) { t->local_size = {1, 1, 0}; }) == Code::root_malformed);
}

TEST_CASE("a tuning without a profile belongs to no device", "[forged]") {
  const auto row = [](std::uint32_t profile, std::uint32_t family, std::uint32_t model,
                      std::uint64_t key_hash) {
    return tunings({ForgedTuning{1, 1, 1, 0, profile, family, model, key_hash}});
  };
  CHECK(row(0, 0, 0, 0) == Code::ok);
  CHECK(row(1, 0, 0, 0) == Code::ok);
  CHECK(row(1, 0, 1, 1) == Code::ok);
  CHECK(row(0, 1, 0, 0) == Code::root_malformed);
  CHECK(row(0, 0, 1, 0) == Code::root_malformed);
  CHECK(row(0, 0, 0, 1) == Code::root_malformed);
}

TEST_CASE("more records than the limits are refused", "[forged]") {
  std::vector<fb::Tuning> rows;
  ForgedTuning row;
  for (row.key_hash = 1; row.key_hash <= kMaxTunings; ++row.key_hash) rows.push_back(row);
  CHECK(tunings(rows) == Code::ok);
  rows.push_back(row);
  CHECK(tunings(rows) == Code::over_limit);
}

TEST_CASE("records that are not aligned are refused", "[forged]") {
  // Words at a multiple of 4 with a count of records: FlatBuffers' verifier lets them pass.
  using Tunings = flatbuffers::Offset<flatbuffers::Vector<const fb::Tuning *>>;
  unsigned misaligned = 0;
  for (const char *pad : {"", "four"}) {
    flatbuffers::FlatBufferBuilder builder;
    const auto producer = builder.CreateString(pad);
    const auto words = builder.CreateVector(std::vector<std::uint32_t>(20, 1));
    const auto targets = builder.CreateVectorOfStructs(std::vector<fb::TargetEntry>{});
    const auto programs = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Program>>{});
    const auto blobs = builder.CreateVectorOfStructs(std::vector<fb::Blob>{Forge().raw_blob({})});
    builder.Finish(fb::CreateRoot(builder, targets, programs, blobs, producer, Tunings(words.o)));
    Bytes bytes = taken(builder);
    const auto *root = flatbuffers::GetRoot<fb::Root>(bytes.data());
    const auto place = static_cast<std::size_t>(root->tunings()->Data() - bytes.data());
    bytes[place - 4] = 1;  // the count
    misaligned += place % 8 != 0 ? 1 : 0;
    // The values are wrong, too; the reader looks at them only where the offset is aligned.
    const Bytes image = Forge().finish(bytes);
    CHECK(fault_of_pack(image) == (place % 8 != 0 ? Code::root_malformed : Code::out_of_bounds));
  }
  CHECK(misaligned == 1);
}

TEST_CASE("a known-bad note's texts are among the root's, and not shared without end", "[forged]") {
  const auto note = [](std::uint32_t text) {
    std::array<std::uint32_t, kNoteTexts> texts{};
    texts.back() = text;
    return fb::KnownBad(flatbuffers::span<const std::uint32_t, kNoteTexts>(texts), 1u << 31);
  };
  ForgedRoot root;
  root.known_bad = {note(2), note(0)};
  CHECK(root_fault(root) == Code::ok);
  root.known_bad = {note(0), note(3)};
  CHECK(root_fault(root) == Code::out_of_bounds);
  root.texts = {"", std::string(100'000, 'x')};
  root.known_bad.assign(16, note(1));
  CHECK(root_fault(root) == Code::ok);
  root.known_bad.assign(18, note(1));
  CHECK(root_fault(root) == Code::over_limit);
}

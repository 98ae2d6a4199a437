// Packs whose hashes agree and whose cross-checks or tunings break a rule of FORMAT.md.
#include "forge.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

Fault fault_of(const ForgedRoot &root) {
  const Bytes bytes = Forge().finish(root);
  PackPointer pack;
  const Fault fault = open(bytes, &pack).fault;
  CHECK((pack == nullptr) == (fault != Fault::none));
  return fault;
}

Fault checks(std::vector<fb::CrossCheck> cross_checks) {
  ForgedRoot root;
  root.cross_checks = std::move(cross_checks);
  return fault_of(root);
}

Fault tunings(std::vector<ForgedTuning> rows) {
  ForgedRoot root;
  root.tunings = std::move(rows);
  return fault_of(root);
}

// The fault of one row after `spoil`.
template <typename Spoil>
Fault spoiled(Spoil spoil) {
  ForgedTuning row;
  spoil(&row);
  return tunings({row});
}

}  // namespace

TEST_CASE("empty vectors of records are as good as none", "[forged]") {
  CHECK(fault_of({}) == Fault::none);
}

TEST_CASE("cross-checks must rise by device and target", "[forged]") {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  CHECK(checks({{1, 1, 0, 0}}) == Fault::none);
  CHECK(checks({{1, 1, 0, 0}, {1, 2, 0, 0}, {2, 0, 0, 0}, {kMost, kMost, 0, 0}}) == Fault::none);
  CHECK(checks({{1, 1, 0, 0}, {1, 1, 0, 0}}) == Fault::root_malformed);
  CHECK(checks({{1, 1, 0, 0}, {1, 1, 1, 0}}) == Fault::root_malformed);
  CHECK(checks({{1, 2, 0, 0}, {1, 1, 0, 0}}) == Fault::root_malformed);
  CHECK(checks({{2, 0, 0, 0}, {1, 1, 0, 0}}) == Fault::root_malformed);
  CHECK(checks({{kMost, 0, 0, 0}, {0, kMost, 0, 0}}) == Fault::root_malformed);
}

TEST_CASE("a result that this reader does not know is kept, a reserved field is refused",
          "[forged]") {
  CHECK(checks({{1, 1, 4, 0}}) == Fault::none);
  CHECK(checks({{1, 1, 5, 0}}) == Fault::none);
  CHECK(checks({{1, 1, 0xffffffff, 0}}) == Fault::none);
  CHECK(checks({{1, 1, 0, 1}}) == Fault::reserved_not_zero);
  CHECK(checks({{1, 1, 0, 0}, {1, 2, 0, 0x80000000}}) == Fault::reserved_not_zero);
}

TEST_CASE("tunings must rise by kernel, size class and device", "[forged]") {
  const auto pair = [](void (*change)(ForgedTuning *)) {
    ForgedTuning low;
    ForgedTuning high;
    change(&high);
    CHECK(tunings({high, low}) == Fault::root_malformed);
    return tunings({low, high});
  };
  CHECK(pair([](ForgedTuning *) {}) == Fault::root_malformed);
  // What is not part of the place makes no second row.
  CHECK(pair([](ForgedTuning *t) { t->samples = 2; }) == Fault::root_malformed);
  CHECK(pair([](ForgedTuning *t) { t->spread = 2; }) == Fault::root_malformed);
  CHECK(pair([](ForgedTuning *t) { t->local_size = {9, 9, 9}; }) == Fault::root_malformed);
  CHECK(pair([](ForgedTuning *t) { t->program = "pp"; }) == Fault::none);
  CHECK(pair([](ForgedTuning *t) { t->variant = "w"; }) == Fault::none);
  CHECK(pair([](ForgedTuning *t) { t->kernel = "\xc3\xa9"; }) == Fault::none);
  CHECK(pair([](ForgedTuning *t) { t->size_class = 1; }) == Fault::none);
  CHECK(pair([](ForgedTuning *t) { t->profile = "test2"; }) == Fault::none);
  CHECK(pair([](ForgedTuning *t) { t->family = "g"; }) == Fault::none);
  CHECK(pair([](ForgedTuning *t) { t->model = "n"; }) == Fault::none);
  CHECK(pair([](ForgedTuning *t) { t->key_hash = 2; }) == Fault::none);
  // The earlier field decides.
  const ForgedTuning a{"p", "v", "k", 0, "x", "b", "b", 9};
  const ForgedTuning b{"p", "v", "k", 1, "a", "a", "a", 1};
  CHECK(tunings({a, b}) == Fault::none);
  CHECK(tunings({b, a}) == Fault::root_malformed);
}

TEST_CASE("a tuning belongs to a kernel and a known size class", "[forged]") {
  CHECK(spoiled([](ForgedTuning *) {}) == Fault::none);
  CHECK(spoiled([](ForgedTuning *t) { t->program = ""; }) == Fault::root_malformed);
  CHECK(spoiled([](ForgedTuning *t) { t->variant = ""; }) == Fault::root_malformed);
  CHECK(spoiled([](ForgedTuning *t) { t->kernel = ""; }) == Fault::root_malformed);
  CHECK(spoiled([](ForgedTuning *t) { t->kernel.push_back('\0'); }) == Fault::root_malformed);
  CHECK(spoiled([](ForgedTuning *t) { t->size_class = 2; }) == Fault::none);
  CHECK(spoiled([](ForgedTuning *t) { t->size_class = 3; }) == Fault::root_malformed);
  CHECK(spoiled([](ForgedTuning *t) { t->size_class = 255; }) == Fault::root_malformed);
}

TEST_CASE("a tuned size has no zero", "[forged]") {
  CHECK(spoiled([](ForgedTuning *t) { t->local_size = {1, 1, 1}; }) == Fault::none);
  CHECK(spoiled([](ForgedTuning *t) { t->local_size = {0, 1, 1}; }) == Fault::root_malformed);
  CHECK(spoiled([](ForgedTuning *t) { t->local_size = {1, 0, 1}; }) == Fault::root_malformed);
  CHECK(spoiled([](ForgedTuning *t) { t->local_size = {1, 1, 0}; }) == Fault::root_malformed);
}

TEST_CASE("a tuning without a profile belongs to no device", "[forged]") {
  const auto row = [](const char *profile, const char *family, const char *model,
                      std::uint64_t key_hash) {
    return tunings({{"p", "v", "k", 0, profile, family, model, key_hash}});
  };
  CHECK(row("", "", "", 0) == Fault::none);
  CHECK(row("test", "", "", 0) == Fault::none);
  CHECK(row("test", "", "m", 1) == Fault::none);
  CHECK(row("", "f", "", 0) == Fault::root_malformed);
  CHECK(row("", "", "m", 0) == Fault::root_malformed);
  CHECK(row("", "", "", 1) == Fault::root_malformed);
}

TEST_CASE("more records than the limits are refused", "[forged]") {
  std::vector<fb::CrossCheck> many;
  for (std::uint64_t i = 0; i < kMaxCrossChecks; ++i) many.push_back({i, 0, 0, 0});
  CHECK(checks(many) == Fault::none);
  many.push_back({kMaxCrossChecks, 0, 0, 0});
  CHECK(checks(many) == Fault::over_limit);

  flatbuffers::FlatBufferBuilder builder;
  const auto row = forge(builder, ForgedTuning{});
  const auto rows =
      builder.CreateVector(std::vector<flatbuffers::Offset<fb::Tuning>>(kMaxTunings + 1, row));
  const auto targets = builder.CreateVectorOfStructs(std::vector<fb::TargetEntry>{});
  const auto programs = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Program>>{});
  const auto blobs = builder.CreateVectorOfStructs(std::vector<fb::Blob>{});
  const auto producer = builder.CreateString("");
  builder.Finish(fb::CreateRoot(builder, targets, programs, blobs, producer, 0, rows));
  PackPointer pack;
  const Bytes bytes = Forge().finish(taken(builder));
  CHECK(open(bytes, &pack).fault == Fault::over_limit);
}

TEST_CASE("cross-checks that are not aligned are refused", "[forged]") {
  // Words at a multiple of 4 with a count of cross-checks: FlatBuffers' verifier lets them pass.
  unsigned misaligned = 0;
  for (const char *pad : {"", "four"}) {
    flatbuffers::FlatBufferBuilder builder;
    const auto producer = builder.CreateString(pad);
    const auto words = builder.CreateVector(std::vector<std::uint32_t>(6));  // one record's
    const auto targets = builder.CreateVectorOfStructs(std::vector<fb::TargetEntry>{});
    const auto programs = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Program>>{});
    const auto blobs = builder.CreateVectorOfStructs(std::vector<fb::Blob>{Forge().raw_blob({})});
    builder.Finish(
        fb::CreateRoot(builder, targets, programs, blobs, producer,
                       flatbuffers::Offset<flatbuffers::Vector<const fb::CrossCheck *>>(words.o)));
    Bytes bytes = taken(builder);
    const auto *root = flatbuffers::GetRoot<fb::Root>(bytes.data());
    const auto place = static_cast<std::size_t>(root->cross_checks()->Data() - bytes.data());
    bytes[place - 4] = 1;  // the count
    misaligned += place % 8 != 0 ? 1 : 0;
    PackPointer pack;
    const Bytes image = Forge().finish(bytes);
    CHECK(open(image, &pack).fault == (place % 8 != 0 ? Fault::root_malformed : Fault::none));
  }
  CHECK(misaligned == 1);
}

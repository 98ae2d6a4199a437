// SPDX-License-Identifier: Apache-2.0
// Packs whose hashes agree and whose root breaks a rule of FORMAT.md: each gives its fault.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/packs/forge.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

constexpr std::uint64_t kMax = ~std::uint64_t{0};

// A pack with one raw blob of 100 bytes and two targets; `spoil` changes the root's values.
template <typename Spoil>
Code spoiled_root(Spoil spoil) {
  Forge forge;
  ForgedRoot root;
  root.blobs = {forge.raw_blob(noise(100, 1))};
  root.targets = {forge.section({"one", {}, {}, 0}), forge.section({"two", {}, {}, 0})};
  if (root.targets[0].key_hash() > root.targets[1].key_hash()) {
    std::swap(root.targets[0], root.targets[1]);
  }
  spoil(&root);
  return fault_of_pack(forge.finish(root));
}

template <typename Spoil>
Code spoiled_blob_row(Spoil spoil) {
  return spoiled_root([&](ForgedRoot *root) {
    BlobValues values(root->blobs[0]);
    spoil(&values);
    root->blobs[0] = values;
  });
}

template <typename Spoil>
Code spoiled_target(Spoil spoil) {
  return spoiled_root([&](ForgedRoot *root) {
    TargetValues values(root->targets[1]);
    spoil(&values);
    root->targets[1] = values;
  });
}

template <typename Spoil>
Code spoiled_variant(Spoil spoil) {
  return spoiled_root([&](ForgedRoot *root) { spoil(&root->programs[0].variants[0]); });
}

Code finished(const Bytes &root) { return fault_of_pack(Forge().finish(root)); }

flatbuffers::Offset<fb::Variant> forge_variant(
    flatbuffers::FlatBufferBuilder &builder, const std::string &name,
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> requirements,
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::Argument>>> arguments) {
  const auto kernel = fb::CreateKernel(builder, builder.CreateString("k"), 1);
  const auto kernels = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Kernel>>{kernel});
  const auto text = builder.CreateString(name);
  const auto options = builder.CreateString("");
  const fb::Hash hash = hash_of(name_of(name));
  const fb::Size3 ones(1, 1, 1);
  return fb::CreateVariant(builder, text, &hash, options, requirements, kernels, 0, 0, 0, 0, &ones,
                           &ones, arguments);
}

// A root with `programs` times one program, that with `variants` times one variant, that with
// `kernels` times one kernel.
Bytes crowded(std::size_t programs, std::size_t variants, std::size_t kernels) {
  flatbuffers::FlatBufferBuilder builder;
  const auto kernel = fb::CreateKernel(builder, builder.CreateString("k"), 1);
  const std::vector<flatbuffers::Offset<fb::Kernel>> all(kernels, kernel);
  const auto kernel_vector = builder.CreateVector(all);
  const auto text = builder.CreateString("v");
  const auto requirements = builder.CreateVectorOfStrings(std::vector<std::string>{});
  const auto arguments = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Argument>>{});
  const fb::Hash hash = hash_of(name_of("v"));
  const fb::Size3 ones(1, 1, 1);
  const auto variant = fb::CreateVariant(builder, text, &hash, text, requirements, kernel_vector, 0,
                                         0, 0, 0, &ones, &ones, arguments);
  const auto program =
      forge(builder, "p", std::vector<flatbuffers::Offset<fb::Variant>>(variants, variant));
  return forge_root(builder, {}, std::vector<flatbuffers::Offset<fb::Program>>(programs, program));
}

// A variant, `arguments` times one argument with `values` numbers.
Bytes shared_argument(std::size_t arguments, std::size_t values) {
  flatbuffers::FlatBufferBuilder builder;
  const auto numbers = builder.CreateVector(std::vector<double>(values, 1));
  const auto argument =
      fb::CreateArgument(builder, 0, 0, 1, builder.CreateString("a"), 0, 0, false, 0, 0, numbers);
  const auto all =
      builder.CreateVector(std::vector<flatbuffers::Offset<fb::Argument>>(arguments, argument));
  const auto none = builder.CreateVectorOfStrings(std::vector<std::string>{});
  const auto variant = forge_variant(builder, "v", none, all);
  return forge_root(builder, {}, {forge(builder, "p", {variant})});
}

// A program with `variants` variants of one vector of `texts` requirements.
Bytes shared_texts(std::size_t variants, std::size_t texts) {
  flatbuffers::FlatBufferBuilder builder;
  const auto text = builder.CreateString("cl_khr_fp16");
  const auto requirements =
      builder.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>(texts, text));
  const auto none = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Argument>>{});
  std::vector<flatbuffers::Offset<fb::Variant>> all;
  for (std::size_t i = 0; i < variants; ++i) {
    all.push_back(forge_variant(builder, "v" + std::to_string(100000 + i), requirements, none));
  }
  return forge_root(builder, {}, {forge(builder, "p", all)});
}

}  // namespace

TEST_CASE("a forged pack that breaks no rule opens", "[forged]") {
  CHECK(spoiled_root([](ForgedRoot *) {}) == Code::ok);
  CHECK(finished(crowded(1, 1, 1)) == Code::ok);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->source = v->il32 = v->il64 = 1; }) == Code::ok);
}

TEST_CASE("targets must rise by key hash and name", "[forged]") {
  CHECK(spoiled_root([](ForgedRoot *root) { std::swap(root->targets[0], root->targets[1]); }) ==
        Code::root_malformed);
  CHECK(spoiled_root([](ForgedRoot *root) { root->targets[1] = root->targets[0]; }) ==
        Code::root_malformed);
  // Two keys may have one hash; then the sections' names decide.
  const auto same_hash = [](bool rising) {
    return spoiled_root([rising](ForgedRoot *root) {
      TargetValues first(root->targets[0]);
      TargetValues second(root->targets[1]);
      second.key_hash = first.key_hash;
      const bool rises = compare(first.name, second.name) < 0;
      root->targets = {first, second};
      if (rises != rising) std::swap(root->targets[0], root->targets[1]);
    });
  };
  CHECK(same_hash(true) == Code::ok);
  CHECK(same_hash(false) == Code::root_malformed);
}

TEST_CASE("a section must lie inside of the pack and under its limit", "[forged]") {
  const auto place = [](std::uint64_t offset, std::uint64_t size) {
    return spoiled_target([=](TargetValues *target) {
      target->offset = offset;
      target->size = size;
    });
  };
  CHECK(place(64, 1) == Code::ok);  // its hash is judged when it is used
  CHECK(place(0, 64) == Code::out_of_bounds);
  CHECK(place(65, 64) == Code::out_of_bounds);
  CHECK(place(72, 64) == Code::out_of_bounds);
  CHECK(place(64, 0) == Code::out_of_bounds);
  CHECK(place(1 << 20, 1) == Code::out_of_bounds);
  CHECK(place(64, 1 << 20) == Code::out_of_bounds);
  CHECK(place(kMax - 63, 64) == Code::out_of_bounds);
  CHECK(place(kMax - 63, 128) == Code::out_of_bounds);
  CHECK(place(kMax, 1) == Code::out_of_bounds);
  CHECK(place(64, kMaxSectionSize) == Code::out_of_bounds);
  CHECK(place(64, kMaxSectionSize + 1) == Code::over_limit);
  CHECK(place(64, kMax) == Code::over_limit);
}

TEST_CASE("a blob must lie inside of the pack and under its limit", "[forged]") {
  const auto place = [](std::uint64_t offset, std::uint64_t size) {
    return spoiled_blob_row([=](BlobValues *blob) {
      blob->offset = offset;
      blob->stored_size = blob->raw_size = size;
    });
  };
  CHECK(place(64, 100) == Code::ok);
  CHECK(place(64, 0) == Code::ok);
  CHECK(place(0, 64) == Code::out_of_bounds);
  CHECK(place(65, 64) == Code::out_of_bounds);
  CHECK(place(1 << 20, 0) == Code::out_of_bounds);
  CHECK(place(64, 1 << 20) == Code::out_of_bounds);
  CHECK(place(kMax - 63, 64) == Code::out_of_bounds);
  CHECK(place(kMax - 63, 128) == Code::out_of_bounds);
  CHECK(place(64, kMaxBlobSize) == Code::out_of_bounds);
  CHECK(place(64, kMaxBlobSize + 1) == Code::over_limit);
  CHECK(place(64, kMax) == Code::over_limit);
}

TEST_CASE("a blob entry's other fields are judged", "[forged]") {
  CHECK(spoiled_blob_row([](BlobValues *b) { b->base = 1; }) == Code::reserved_not_zero);
  CHECK(spoiled_blob_row([](BlobValues *b) { b->raw_size = 99; }) == Code::out_of_bounds);
  CHECK(spoiled_blob_row([](BlobValues *b) { b->raw_size = kMaxBlobSize + 1; }) ==
        Code::over_limit);
  // An unknown codec and a wrong hash are judged when the blob is read.
  CHECK(spoiled_blob_row([](BlobValues *b) { b->codec = 2; }) == Code::ok);
  CHECK(spoiled_blob_row([](BlobValues *b) { b->xxh3 = 0; }) == Code::ok);
}

TEST_CASE("programs and variants must have rising names", "[forged]") {
  const auto programs = [](std::vector<std::string> names) {
    return spoiled_root([&](ForgedRoot *root) {
      root->programs.clear();
      for (const std::string &name : names) root->programs.push_back({name, {{}}});
    });
  };
  const auto variants = [](std::vector<std::string> names) {
    return spoiled_root([&](ForgedRoot *root) {
      root->programs[0].variants.clear();
      for (const std::string &name : names) {
        root->programs[0].variants.emplace_back();
        root->programs[0].variants.back().name = name;
      }
    });
  };
  const std::string zero("a\0b", 3);
  for (const auto &names : std::vector<std::vector<std::string>>{
           {}, {"a", "b"}, {"a", "aa", "b"}, {"B", "a", "\xc3\xa9"}}) {
    CHECK(programs(names) == Code::ok);
    CHECK(variants(names) == Code::ok);
  }
  for (const auto &names : std::vector<std::vector<std::string>>{
           {""}, {"", "a"}, {"b", "a"}, {"a", "a"}, {"aa", "a"}, {"a", "B"}, {zero}, {"a", zero}}) {
    CHECK(programs(names) == Code::root_malformed);
    CHECK(variants(names) == Code::root_malformed);
  }
}

TEST_CASE("a program is judged when it is used, and it alone", "[forged]") {
  ForgedRoot root;
  root.programs = {{"a", {{}}}, {"b", {{}}}, {"c", {{}}}};
  root.programs[1].variants[0].role = 255;
  const Bytes bytes = Forge().finish(forge(root));
  const PackPointer pack = opened(bytes);
  ProgramRef found;
  for (int i = 0; i < 2; ++i) {
    for (const char *good : {"a", "c"}) {
      CHECK(pack->find_program(good, &found).ok());
      CHECK(found.name() == good);
    }
    CHECK(pack->find_program("bb", &found).ok());
    CHECK_FALSE(found);
    CHECK(pack->find_program("b", &found).code == Code::root_malformed);
    CHECK_FALSE(found);
    ProgramRefs all;
    CHECK(pack->programs(&all).code == Code::root_malformed);
    CHECK(all.size() == 0);
  }
  // Of a name that lies outside, nothing is read.
  const std::uint32_t offset = 0x7ffffffc;
  Bytes outside = forge(root);
  const auto *programs = flatbuffers::GetRoot<fb::Root>(outside.data())->programs();
  std::memcpy(outside.data() + (programs->Data() - outside.data()) + sizeof(offset), &offset,
              sizeof(offset));
  const Bytes spoiled = Forge().finish(outside);
  CHECK(opened(spoiled)->find_program("b", &found).code == Code::root_malformed);
  CHECK(opened(spoiled)->find_program("a", &found).code == Code::root_malformed);
}

TEST_CASE("a variant has kernels with names of their own", "[forged]") {
  const auto kernels = [](std::vector<std::string> names) {
    return spoiled_variant([&](ForgedVariant *variant) { variant->kernels = names; });
  };
  CHECK(kernels({"b", "a", "c"}) == Code::ok);
  CHECK(kernels({}) == Code::root_malformed);
  CHECK(kernels({""}) == Code::root_malformed);
  CHECK(kernels({"b", "a", "b"}) == Code::root_malformed);
  CHECK(kernels({std::string("a\0", 2)}) == Code::root_malformed);
}

TEST_CASE("a variant's values must be known and in range", "[forged]") {
  CHECK(spoiled_variant([](ForgedVariant *v) { v->role = 6; }) == Code::ok);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->role = 8; }) == Code::root_malformed);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->role = 255; }) == Code::root_malformed);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->storage = 1; }) == Code::ok);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->storage = 2; }) == Code::root_malformed);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->storage = 2, v->role = 6; }) == Code::ok);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->storage = 7; }) == Code::ok);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->storage = 8, v->role = 6; }) ==
        Code::root_malformed);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->role = 7, v->value = 28; }) == Code::ok);
  for (const int value : {-1, 5, 29, 32}) {
    CHECK(spoiled_variant([&](ForgedVariant *v) { v->role = 7, v->value = value; }) ==
          Code::root_malformed);
  }
  CHECK(spoiled_variant([](ForgedVariant *v) { v->type = 5; }) == Code::ok);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->type = 11; }) == Code::root_malformed);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->type = 255; }) == Code::root_malformed);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->source = 2; }) == Code::out_of_bounds);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->il32 = 2; }) == Code::out_of_bounds);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->il64 = 0xffffffff; }) == Code::out_of_bounds);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->launches = 1; }) == Code::ok);
  CHECK(spoiled_variant([](ForgedVariant *v) { v->launches = 2; }) == Code::out_of_bounds);
}

TEST_CASE("an argument belongs to one of the variant's kernels", "[forged]") {
  const auto stage = [](std::size_t kernels, std::uint8_t of) {
    return spoiled_variant([&](ForgedVariant *variant) {
      variant->kernels.resize(kernels);
      for (std::size_t i = 0; i < kernels; ++i) variant->kernels[i] = "k" + std::to_string(i);
      variant->stage = of;
    });
  };
  CHECK(stage(1, 0) == Code::ok);
  CHECK(stage(1, 1) == Code::root_malformed);
  CHECK(stage(3, 2) == Code::ok);
  CHECK(stage(3, 3) == Code::root_malformed);
  CHECK(stage(256, 255) == Code::ok);
}

TEST_CASE("a stated work-group size is at least 1 in each place", "[forged]") {
  const auto stated = [](fb::Size3 size) {
    return spoiled_variant([=](ForgedVariant *v) { v->local_sizes = {{8, 8, 1}, size}; });
  };
  CHECK(stated({1, 1, 1}) == Code::ok);
  CHECK(stated({0, 1, 1}) == Code::root_malformed);
  CHECK(stated({1, 0, 1}) == Code::root_malformed);
  CHECK(stated({1, 1, 0}) == Code::root_malformed);
}

TEST_CASE("a tolerance is a number that is not negative", "[forged]") {
  const auto tolerance = [](double value) {
    return spoiled_variant([=](ForgedVariant *variant) { variant->tolerance = value; });
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double good : {0.0, 5e-324, 1.0, 1e308, kInfinity}) {
    CAPTURE(good);
    CHECK(tolerance(good) == Code::ok);
  }
  for (const double bad : {-5e-324, -1.0, -kInfinity, std::numeric_limits<double>::quiet_NaN(),
                           -std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(bad);
    CHECK(tolerance(bad) == Code::root_malformed);
  }
}

TEST_CASE("more programs, variants, targets or tables than the limits are refused", "[forged]") {
  ForgedRoot programs;
  programs.programs.resize(65537);
  CHECK(finished(forge(programs)) == Code::over_limit);
  ForgedRoot variants;
  variants.programs[0].variants.resize(65537);
  CHECK(finished(forge(variants)) == Code::over_limit);
  CHECK(finished(crowded(65536, 1, 1)) == Code::root_malformed);
  CHECK(finished(crowded(65537, 1, 1)) == Code::over_limit);
  CHECK(finished(crowded(1, 65537, 1)) == Code::root_malformed);
  CHECK(finished(crowded(1, 1, 1000000)) == Code::root_malformed);
  CHECK(finished(crowded(1000, 1000, 1)) == Code::root_malformed);
  ForgedRoot root;
  root.targets.resize(kMaxTargets + 1);
  CHECK(finished(forge(root)) == Code::over_limit);
}

TEST_CASE("what a pack costs to open and to read is bounded by its size", "[forged]") {
  // Targets that share one section would be a copy of it each.
  const auto sharing = [](unsigned targets) {
    Forge forge;
    ForgedRoot root;
    const TargetValues section(forge.section({"one", {}, {}, 0}));
    for (unsigned i = 0; i < targets; ++i) {
      TargetValues target = section;
      target.key_hash = section.key_hash + i;
      root.targets.push_back(target);
    }
    return fault_of_pack(forge.finish(root));
  };
  CHECK(sharing(1) == Code::ok);
  CHECK(sharing(1000) == Code::over_limit);
  // Each of 30,000 variants would have 60,000 requirements: 1.8 billion texts to look at.
  CHECK(finished(shared_texts(30000, 60000)) == Code::root_malformed);
  CHECK(finished(shared_texts(1, 3)) == Code::ok);
  // 10,000 arguments, or three, would each have the same numbers: 800 MB from 120 KB.
  CHECK(finished(shared_argument(10000, 10000)) == Code::root_malformed);
  CHECK(finished(shared_argument(3, 10000)) == Code::root_malformed);
  CHECK(finished(shared_argument(1, 10000)) == Code::ok);
  // Rows of tunings share their texts, as long as those are short.
  const auto tunings = [](std::size_t rows, std::size_t length) {
    ForgedRoot root;
    root.texts = {"", "a", std::string(length, 'b')};
    for (std::size_t i = 0; i < rows; ++i) {
      ForgedTuning row;
      row.key_hash = i + 1;
      row.conditions = 2;
      root.tunings.push_back(row);
    }
    return finished(forge(root));
  };
  CHECK(tunings(1000, 200) == Code::ok);
  CHECK(tunings(1000, 20000) == Code::over_limit);
}

// A benchmark: what it costs to refuse them, in a process that has done nothing before.
TEST_CASE("the cost of refusing what claims to be much", "[.cost]") {
  const struct {
    const char *what;
    Bytes root;
  } packs[] = {
      {"30,000 variants share 60,000 texts", shared_texts(30000, 60000)},
      {"10,000 arguments share 10,000 numbers", shared_argument(10000, 10000)},
      {"1,000 programs share 1,000 variants of 1,000 kernels", crowded(1000, 1000, 1000)},
  };
  for (const auto &[what, root] : packs) {
    const Bytes pack = Forge().finish(root);
    const pid_t child = fork();
    if (child == 0) {
      rusage before{};
      rusage after{};
      getrusage(RUSAGE_SELF, &before);
      const auto start = std::chrono::steady_clock::now();
      PackPointer out;
      ProgramRefs programs;
      const bool refused = !open(pack, &out).ok() || !out->programs(&programs).ok();
      const std::chrono::duration<double, std::milli> spent =
          std::chrono::steady_clock::now() - start;
      getrusage(RUSAGE_SELF, &after);
      std::printf("%-52s %5zu KB: %.2f ms, %ld KB of memory\n", what, pack.size() / 1024,
                  spent.count(), after.ru_maxrss - before.ru_maxrss);
      std::fflush(stdout);
      _exit(refused ? 0 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
}

TEST_CASE("a root that is no FlatBuffers buffer is malformed", "[forged]") {
  CHECK(finished(Bytes(1)) == Code::root_malformed);
  CHECK(finished(Bytes(7)) == Code::root_malformed);
  CHECK(finished(Bytes(4096)) == Code::root_malformed);
  CHECK(finished(Bytes(4096, 0xff)) == Code::root_malformed);
  CHECK(finished(noise(4096, 5)) == Code::root_malformed);
  const Bytes good = forge(ForgedRoot{});
  CHECK(finished(good) == Code::ok);
  for (const std::uint32_t offset : {0u, 1u, 0x7ffffffcu, 0xfffffffcu}) {
    Bytes bad = good;
    for (unsigned i = 0; i < 4; ++i) bad[i] = static_cast<std::uint8_t>(offset >> (8 * i));
    CHECK(finished(bad) == Code::root_malformed);
  }
  for (std::size_t size = 1; size + 8 <= good.size(); ++size) {  // behind it may be padding
    const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(finished(cut) == Code::root_malformed);
  }
}

TEST_CASE("a section in the root's place is malformed", "[forged]") {
  CHECK(finished(forge(ForgedSection{})) == Code::root_malformed);
}

TEST_CASE("structs that are not aligned are refused", "[forged]") {
  // Words at a multiple of 4 with a count of targets: FlatBuffers' verifier lets them pass.
  unsigned misaligned = 0;
  for (const char *pad : {"", "four"}) {
    flatbuffers::FlatBufferBuilder builder;
    const auto producer = builder.CreateString(pad);
    const std::vector<std::uint32_t> words(16);  // one target's
    const auto targets = builder.CreateVector(words);
    const auto programs = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Program>>{});
    const auto blobs = builder.CreateVectorOfStructs(std::vector<fb::Blob>{Forge().raw_blob({})});
    builder.Finish(fb::CreateRoot(
        builder, flatbuffers::Offset<flatbuffers::Vector<const fb::TargetEntry *>>(targets.o),
        programs, blobs, producer));
    Bytes bytes = taken(builder);
    const auto *root = flatbuffers::GetRoot<fb::Root>(bytes.data());
    const auto place = static_cast<std::size_t>(root->targets()->Data() - bytes.data());
    bytes[place - 4] = 1;  // the count
    misaligned += place % 8 != 0 ? 1 : 0;
    CHECK(finished(bytes) == (place % 8 != 0 ? Code::root_malformed : Code::out_of_bounds));
  }
  CHECK(misaligned == 1);
}

TEST_CASE("an argument's numbers and a program's sizes are aligned", "[forged]") {
  // The same vector read from a later place: behind the change its length is 1 and in bounds.
  std::uint64_t two_ones = 0x0000000100000001;
  double number = 0;
  std::memcpy(&number, &two_ones, sizeof(number));
  ForgedRoot forged;
  forged.programs[0].variants[0].values = {number, number, number};
  const Bytes good = forge(forged);
  CHECK(finished(good) == Code::ok);
  const auto shifted = [&](bool values, std::uint8_t by) {
    Bytes bytes = good;
    const auto *program = flatbuffers::GetRoot<fb::Root>(bytes.data())->programs()->Get(0);
    const auto *argument = program->variants()->Get(0)->arguments()->Get(0);
    const std::uint8_t *field =
        values ? reinterpret_cast<const flatbuffers::Table *>(argument)->GetAddressOf(
                     fb::Argument::VT_VALUES)
               : reinterpret_cast<const flatbuffers::Table *>(program)->GetAddressOf(
                     fb::Program::VT_SIZES);
    REQUIRE(field != nullptr);
    std::uint8_t &offset = bytes[static_cast<std::size_t>(field - bytes.data())];
    REQUIRE(offset < 255 - by);
    offset = static_cast<std::uint8_t>(offset + by);
    return finished(bytes);
  };
  CHECK(shifted(true, 4) == Code::root_malformed);
  CHECK(shifted(true, 8) == Code::ok);  // aligned again
  CHECK(shifted(true, 1) == Code::root_malformed);
  CHECK(shifted(false, 1) == Code::root_malformed);
  CHECK(shifted(false, 2) == Code::root_malformed);
}

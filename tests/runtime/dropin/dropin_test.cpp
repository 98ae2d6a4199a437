// SPDX-License-Identifier: Apache-2.0
// The reader in C gives what the full reader gives, and nothing else, from sound, damaged and
// forged packs; and it takes a target only for a device that has the target's binary key.
#include "runtime/dropin/kiln_dropin.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>

#include "tests/fuzz/rehash.hpp"
#include "tests/packs/forge.hpp"
#include "tests/support/identities.hpp"

using namespace kiln;
using namespace kiln::test;

namespace {

constexpr kiln_dropin_form kForms[] = {KILN_DROPIN_BINARY, KILN_DROPIN_IL32, KILN_DROPIN_IL64,
                                       KILN_DROPIN_SOURCE};
const kiln_dropin_device kNobody = {};
const std::string kKnownBad = "a known-bad note of the pack leaves it out on this driver";

// A binary of a target by its key's hash, or another form of a variant.
struct Question {
  std::uint64_t key_hash;
  std::string program, variant;
  kiln_dropin_form form;
};

struct Answer {
  std::optional<Bytes> bytes;
  std::string why;
};

std::vector<Question> questions(const Contents &contents) {
  std::vector<Question> all;
  for (const packs::Program &program : contents.programs) {
    for (const packs::Variant &variant : program.variants) {
      for (const kiln_dropin_form form : kForms) {
        if (form != KILN_DROPIN_BINARY) all.push_back({0, program.name, variant.name, form});
      }
      for (const packs::Target &target : contents.targets) {
        all.push_back({key_hash(target), program.name, variant.name, KILN_DROPIN_BINARY});
      }
    }
  }
  return all;
}

// What the reader in C says, of memory that ends where the pack ends.
Answer dropin_answer(const Bytes &pack_bytes, const Question &question) {
  kiln_dropin_pack pack;
  kiln_dropin_target target;
  kiln_dropin_code code;
  static Bytes memory(1 << 20);
  const auto failed = [](const char *why) { return Answer{std::nullopt, why}; };
  if (const char *why = kiln_dropin_open(&pack, pack_bytes.data(), pack_bytes.size())) {
    return failed(why);
  }
  const bool binary = question.form == KILN_DROPIN_BINARY;
  if (binary) {
    const char *why = kiln_dropin_find_target(&pack, &kNobody, question.key_hash, &target);
    if (why != nullptr) return failed(why);
  }
  const char *why = kiln_dropin_find(&pack, binary ? &target : nullptr, question.program.c_str(),
                                     question.variant.c_str(), question.form, memory.data(),
                                     memory.size(), &code);
  if (why != nullptr) {
    CHECK(code.bytes == nullptr);
    return failed(why);
  }
  return {Bytes(code.bytes, code.bytes + code.size), ""};
}

packs::BlobRef full_blob(const Pack &pack, const Question &question) {
  packs::VariantRef variant;
  REQUIRE(pack.find_variant(question.program, question.variant, &variant).ok());
  if (!variant) return {};
  switch (question.form) {
    case KILN_DROPIN_IL32: return pack.blob(variant.il32());
    case KILN_DROPIN_IL64: return pack.blob(variant.il64());
    case KILN_DROPIN_SOURCE: return pack.blob(variant.source());
    case KILN_DROPIN_BINARY: break;
  }
  for (std::size_t i = 0; i < pack.target_count(); ++i) {
    packs::TargetRef target;
    if (pack.target_key_hash(i) != question.key_hash || !pack.target(i, &target).ok()) continue;
    const packs::BinaryRef binary = target.find_binary(variant.hash());
    return binary ? binary.blob : packs::BlobRef();
  }
  return {};
}

std::optional<Bytes> full_answer(const Pack &pack, const Question &question) {
  const packs::BlobRef blob = full_blob(pack, question);
  Bytes scratch;
  View view;
  if (!blob || !pack.read_blob(blob, &scratch, &view).ok()) return std::nullopt;
  return Bytes(view.data, view.data + view.size);
}

// Both readers on forged bytes: what the full reader takes, the other gives as well. No access
// may leave the pack, which the address sanitizer sees.
void compare_readers(const Bytes &bytes, const std::vector<Question> &asked) {
  PackPointer pack;
  packs::ProgramRefs programs;
  const bool sound = open(bytes, &pack).ok() && pack->programs(&programs).ok();
  for (const Question &question : asked) {
    const Answer answer = dropin_answer(bytes, question);
    if (!sound) continue;
    const std::optional<Bytes> full = full_answer(*pack, question);
    if (full && answer.why != kKnownBad) CHECK(answer.bytes == full);
  }
}

// Sets words to values that are wrong in most places.
void spoil(const Bytes &good, std::uint64_t offset, std::uint64_t size,
           const std::function<void(View)> &repair, const std::vector<Question> &asked) {
  for (std::uint64_t place = offset; place + 4 <= offset + size; place += 2) {
    for (const std::uint32_t value : {0u, 1u, 4u, 0x40u, 0x7fffffffu, 0xfffffffcu, 0xffffffffu}) {
      Bytes bytes = good;
      std::memcpy(bytes.data() + place, &value, sizeof(value));
      repair({bytes.data(), bytes.size()});
      compare_readers(bytes, asked);
    }
  }
}

kiln_dropin_device device_of(const runtime::Identity &identity) {
  kiln_dropin_device device = {};
  for (std::size_t i = 0; i < runtime::kFieldCount; ++i) {
    const auto &value = identity[static_cast<Field>(i)];
    device.facts[i] = value ? value->c_str() : nullptr;
  }
  return device;
}

// The sample's programs for a device of that identity.
Contents contents_for(const runtime::Identity &identity) {
  const runtime::Description description = runtime::describe(identity);
  Contents contents = bare_sample();
  packs::Target &target = contents.targets[0];
  target.key = description.key.text();
  target.profile = description.profile;
  target.family = description.family;
  target.model = description.model;
  target.compiler = description.compiler;
  target.identity = identity.facts();
  contents.targets.resize(1);
  return contents;
}

std::string why_no_binary(const Contents &contents, const runtime::Identity &identity,
                          kiln_dropin_code *code, const char *variant = "scalar") {
  static Bytes bytes;
  bytes = written(contents);
  const kiln_dropin_device device = device_of(identity);
  kiln_dropin_pack pack;
  kiln_dropin_target target;
  REQUIRE(kiln_dropin_open(&pack, bytes.data(), bytes.size()) == nullptr);
  const char *why = kiln_dropin_find_target(&pack, &device, 0, &target);
  if (why == nullptr) {
    why = kiln_dropin_find(&pack, &target, "blur", variant, KILN_DROPIN_BINARY, nullptr, 0, code);
  }
  return why == nullptr ? "" : why;
}

std::vector<runtime::Identity> drivers() {
  std::vector<runtime::Identity> all = {
      mali("Mali-G710", "0xa8670000", "r32p1-01eac0.0123456789abcdef"),
      neo_22("0x03009000", "22.43"),
      neo_20("Gen9"),
      make({{Field::device_vendor, "NVIDIA Corporation"},
            {Field::device_name, "NVIDIA H200"},
            {Field::device_version, "OpenCL 3.0 CUDA"},
            {Field::driver_version, "580.65.06"},
            {Field::address_bits, "64"},
            {Field::compute_capability, "9.0"}}),
      make({{Field::device_vendor, "Advanced Micro Devices, Inc."},
            {Field::device_name, "gfx908:sramecc+:xnack-"},
            {Field::platform_version, "OpenCL 2.1 AMD-APP (3590.0)"},
            {Field::driver_version, "3590.0 (HSA1.1,LC)"}}),
      make({{Field::platform_name, "rusticl"},
            {Field::device_name, "AMD (radeonsi, navi23, LLVM 19.1.7, DRM 3.49, 6.18.44)"},
            {Field::driver_version, "25.0.7"}}),
      make({{Field::platform_name, "Apple"},
            {Field::device_name, "Apple M1"},
            {Field::device_vendor_id, "0x1027f00"},
            {Field::platform_version, "OpenCL 1.2 (Aug 30 2022 21:57:34)"},
            {Field::driver_version, "1.2 1.0"}})};
  for (const Row &row : kRows) all.push_back(identity_of(row));
  return all;
}

}  // namespace

TEST_CASE("the reader in C gives what the full reader gives", "[dropin]") {
  for (const Contents &contents :
       {bare_sample(), records_sample(), sample(), statistics_sample(), known_bad_sample()}) {
    const Bytes bytes = written(contents);
    const PackPointer pack = opened(bytes);
    unsigned given = 0;
    for (const Question &question : questions(contents)) {
      const Answer answer = dropin_answer(bytes, question);
      CAPTURE(question.program, question.variant, question.form, answer.why);
      CHECK(answer.bytes == full_answer(*pack, question));
      CHECK(answer.bytes.has_value() == answer.why.empty());
      given += answer.bytes.has_value();
    }
    CHECK(given == 9);  // three sources, two modules, four binaries
  }
}

TEST_CASE("the reader in C gives nothing that damage has touched", "[dropin]") {
  const Contents contents = bare_sample();
  const std::vector<Question> asked = questions(contents);
  Bytes bytes = written(contents);
  std::vector<Answer> right;
  for (const Question &question : asked) right.push_back(dropin_answer(bytes, question));
  unsigned refused = 0;
  const auto check = [&](const Bytes &damaged) {
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const Answer answer = dropin_answer(damaged, asked[i]);
      if (answer.bytes) REQUIRE(answer.bytes == right[i].bytes);
      refused += right[i].bytes && !answer.bytes;
    }
  };
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    for (const std::uint8_t mask : Bytes{0x01, 0xff}) {
      bytes[place] ^= mask;
      check(bytes);
      bytes[place] ^= mask;
    }
  }
  CHECK(refused > 2 * bytes.size());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    kiln_dropin_pack pack;
    REQUIRE(kiln_dropin_open(&pack, cut.data(), cut.size()) != nullptr);
  }
}

TEST_CASE("the reader in C survives right hashes around wrong words", "[dropin]") {
  const Contents contents = known_bad_sample();
  const std::vector<Question> asked = questions(contents);
  const Bytes good = written(contents);
  const PackPointer pack = opened(good);
  spoil(
      good, pack->superblock().root_offset, pack->superblock().root_size,
      [](View changed) { rehash(changed); }, asked);
  const fb::TargetEntry *entry = pack->schema().targets()->Get(0);
  spoil(good, entry->offset(), entry->size(), rehash_sections, asked);
}

TEST_CASE("the reader in C takes a target only for devices with its binary key", "[dropin]") {
  const std::vector<runtime::Identity> all = drivers();
  unsigned found = 0;
  for (const runtime::Identity &built_on : all) {
    const std::string key = key_text_of(built_on);
    const Bytes bytes = written(contents_for(built_on));
    kiln_dropin_pack pack;
    REQUIRE(kiln_dropin_open(&pack, bytes.data(), bytes.size()) == nullptr);
    const auto fits = [&](const runtime::Identity &identity) {
      const kiln_dropin_device device = device_of(identity);
      kiln_dropin_target target;
      const bool is_found = kiln_dropin_find_target(&pack, &device, 0, &target) == nullptr;
      if (is_found) CHECK(key_text_of(identity) == key);
      found += is_found;
      return is_found;
    };
    CHECK(fits(built_on));
    for (std::size_t i = 0; i < runtime::kFieldCount; ++i) {
      const auto field = static_cast<Field>(i);
      std::vector<std::optional<std::string>> values = {std::nullopt, "", "x", "1.0"};
      for (const runtime::Identity &other : all) values.push_back(other[field]);
      for (const auto &value : values) {
        runtime::Identity changed;
        for (std::size_t k = 0; k < runtime::kFieldCount; ++k) {
          const auto &kept = k == i ? value : built_on[static_cast<Field>(k)];
          if (kept) changed.set(static_cast<Field>(k), *kept);
        }
        const bool is_found = fits(changed);
        if (field == Field::device_uuid) CHECK(is_found);
      }
    }
  }
  CHECK(found > 100 + all.size());
  // What a key leaves out may differ: here an NVIDIA driver, which takes older cubins.
  runtime::Identity updated = all[3];
  updated.set(Field::driver_version, "580.159.04");
  kiln_dropin_code code;
  CHECK(why_no_binary(contents_for(all[3]), all[3], &code).empty());
  Contents contents = contents_for(all[3]);
  CHECK(contents.targets[0].profile == "nvidia");
  contents.targets[0].binaries[0].finish.driver = "580.65.06";
  const Bytes bytes = written(contents);
  const kiln_dropin_device device = device_of(updated);
  kiln_dropin_pack pack;
  kiln_dropin_target target;
  REQUIRE(kiln_dropin_open(&pack, bytes.data(), bytes.size()) == nullptr);
  REQUIRE(kiln_dropin_find_target(&pack, &device, 0, &target) == nullptr);
  CHECK(kiln_dropin_find(&pack, &target, "blur", "scalar", KILN_DROPIN_BINARY, nullptr, 0, &code) ==
        nullptr);
}

TEST_CASE("the reader in C calls a binary final where the driver's cache is not needed",
          "[dropin]") {
  for (const runtime::Identity &identity : drivers()) {
    Contents contents = contents_for(identity);
    contents.targets[0].binaries[0].finish.finality = packs::Finality::yes;
    kiln_dropin_code code;
    REQUIRE(why_no_binary(contents, identity, &code).empty());
    const bool cached = runtime::describe(identity).finishing == runtime::Finishing::shader_cache;
    CHECK(code.finality == (cached ? 0 : 1));
    contents.targets[0].binaries[0].finish.finality = packs::Finality::no;
    REQUIRE(why_no_binary(contents, identity, &code).empty());
    CHECK(code.finality == 2);
  }
}

TEST_CASE("the reader in C says why there is no binary", "[dropin]") {
  const runtime::Identity pocl =
      make({{Field::platform_name, "Portable Computing Language"}, {Field::driver_version, "3.1"}});
  const Contents good = contents_for(pocl);
  kiln_dropin_code code;
  CHECK(why_no_binary(good, pocl, &code).empty());
  CHECK(code.options == nullptr);
  CHECK(why_no_binary(good, pocl, &code, nullptr) == "the program has several variants: name one");
  CHECK(why_no_binary(good, pocl, &code, "wide") == "the target has no binary of this variant");
  CHECK(why_no_binary(good, pocl, &code, "x") == "the program has no variant of that name");
  CHECK(why_no_binary(good, make({{Field::driver_version, "3.1"}}), &code) ==
        "no target of the pack was built for this device and this driver");

  Contents flushing = good;
  flushing.programs[0].variants[0].options = "-DN=1 -cl-denorms-are-zero";
  CHECK(why_no_binary(flushing, pocl, &code).empty());
  CHECK(std::string(code.options) == "-cl-denorms-are-zero");

  Contents proven = good;
  proven.programs[0].variants[0].requirements = {"proof"};
  const std::string unproven = "the variant needs a binary with a proof, and this one has none";
  CHECK(why_no_binary(proven, pocl, &code) == unproven);
  proven.targets[0].binaries[0].finish.proof = "the program built from source, 64x64";
  CHECK(why_no_binary(proven, pocl, &code) == unproven);
  proven.targets[0].binaries[0].finish.proof = "blur_reference, 64x64";
  CHECK(why_no_binary(proven, pocl, &code).empty());

  const auto with_note = [&](packs::KnownBad note) {
    Contents noted = good;
    noted.known_bad = {std::move(note)};
    return why_no_binary(noted, pocl, &code);
  };
  CHECK(with_note({{"b*", "", "sca?ar", "POCL", "", "", "3", "4", "", "", "r", ""}, 2}) ==
        kKnownBad);
  CHECK(with_note({{"b*", "", "", "", "", "", "3.1", "", "", "", "r", ""}, 0xffffffff}) ==
        kKnownBad);
  CHECK(with_note({{"b*", "", "", "", "", "", "3.2", "", "", "", "r", ""}, 2}).empty());
  CHECK(with_note({{"b*", "", "", "", "", "", "", "3.1", "", "", "r", ""}, 2}).empty());
  CHECK(with_note({{"", "", "k", "", "", "", "", "", "", "", "r", ""}, 2}).empty());
  CHECK(with_note({{"", "", "", "rusticl", "", "", "", "", "", "", "r", ""}, 2}).empty());
  CHECK(with_note({{"", "", "", "", "", "", "", "", "1", "", "r", ""}, 2}).empty());
  CHECK(with_note({{"", "", "", "", "", "", "", "", "", "", "r", ""}, 8}).empty());

  const runtime::Identity nvidia = drivers()[3];
  Contents later = contents_for(nvidia);
  later.targets[0].binaries[0].finish.driver = "580.65.07";
  CHECK(why_no_binary(later, nvidia, &code) == "the binary was made by a later driver");
}

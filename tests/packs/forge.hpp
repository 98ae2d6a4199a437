// SPDX-License-Identifier: Apache-2.0
// Packs that the writer would never write: right hashes around wrong values.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <zstd.h>

#include "kiln/packs/bytes.hpp"
#include "tests/packs/sample.hpp"

namespace kiln::test {

namespace fb = packs::fb;

inline fb::Hash hash_of(const packs::Digest &name) {
  return fb::Hash(
      flatbuffers::span<const std::uint8_t, packs::kDigestSize>(name.data(), name.size()));
}

inline Bytes taken(flatbuffers::FlatBufferBuilder &builder) {
  return Bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
}

// The schema's structs with fields that can be set.
struct BlobValues {
  explicit BlobValues(const fb::Blob &b)
      : name(b.name()),
        offset(b.offset()),
        stored_size(b.stored_size()),
        raw_size(b.raw_size()),
        xxh3(b.xxh3()),
        codec(b.codec()),
        base(b.base()) {}
  operator fb::Blob() const { return {name, offset, stored_size, raw_size, xxh3, codec, base}; }

  fb::Hash name;
  std::uint64_t offset, stored_size, raw_size, xxh3;
  std::uint32_t codec, base;
};

struct TargetValues {
  explicit TargetValues(const fb::TargetEntry &t)
      : key_hash(t.key_hash()),
        offset(t.offset()),
        size(t.size()),
        xxh3(t.xxh3()),
        name(t.name()) {}
  operator fb::TargetEntry() const { return {key_hash, offset, size, xxh3, name}; }

  std::uint64_t key_hash, offset, size, xxh3;
  fb::Hash name;
};

struct ForgedVariant {
  std::string name = "v";
  std::vector<std::string> kernels{"k"};
  std::uint32_t source = 0;
  std::uint32_t il32 = 0;
  std::uint32_t il64 = 0;
  std::uint32_t launches = 0;
  std::uint8_t role = 0;
  std::int64_t value = 0;
  std::uint8_t storage = 0;
  std::uint8_t type = 0;
  std::uint8_t stage = 0;
  std::vector<double> values{1, 2};
  double tolerance = 0;
  std::vector<fb::Size3> local_sizes{};
  std::vector<fb::Parameter> parameters{};  // of each kernel, which has one argument
};

struct ForgedProgram {
  std::string name = "p";
  std::vector<ForgedVariant> variants{{}};
};

// Texts by their index in ForgedRoot::texts.
struct ForgedTuning {
  operator fb::Tuning() const {
    return {key_hash, 1000,  2000,       program,    variant, kernel, size_class, profile,
            family,   model, conditions, local_size, samples, spread, reserved};
  }

  std::uint32_t program = 1;
  std::uint32_t variant = 1;
  std::uint32_t kernel = 1;
  std::uint32_t size_class = 0;
  std::uint32_t profile = 1;
  std::uint32_t family = 1;
  std::uint32_t model = 1;
  std::uint64_t key_hash = 1;
  std::uint32_t conditions = 0;
  fb::Size3 local_size{8, 8, 1};
  std::uint32_t samples = 1;
  std::uint32_t spread = 0;
  std::uint32_t reserved = 0;
};

struct ForgedRoot {
  std::vector<fb::TargetEntry> targets;
  std::vector<ForgedProgram> programs{{}};
  std::vector<fb::Blob> blobs;
  std::vector<fb::Tuning> tunings;
  std::vector<std::string> texts{"", "a", "b"};
  std::vector<fb::KnownBad> known_bad{};
  std::vector<fb::Hash> tuned_variants{};  // none: the vector is left out
};

struct ForgedSection {
  std::string key = "profile=test\n";
  std::vector<fb::Binary> binaries;
  std::vector<fb::Blob> blobs;
  std::size_t provenances = 0;  // beyond one a binary
  std::vector<fb::Binary> intermediates{};
  std::size_t intermediate_provenances = 0;
  std::vector<fb::Binary> cache_entries{};
  std::uint8_t finality = 0;  // of all provenances
};

inline flatbuffers::Offset<fb::Variant> forge(flatbuffers::FlatBufferBuilder &builder,
                                              const ForgedVariant &variant) {
  std::vector<flatbuffers::Offset<fb::Kernel>> kernels;
  for (const std::string &name : variant.kernels) {
    const auto text = builder.CreateString(name);
    const auto parameters = builder.CreateVectorOfStructs(variant.parameters);
    kernels.push_back(fb::CreateKernel(builder, text, 1, 0, parameters));
  }
  const auto argument_name = builder.CreateString("argument");
  const auto values = builder.CreateVector(variant.values);
  const std::vector<flatbuffers::Offset<fb::Argument>> arguments{
      fb::CreateArgument(builder, variant.role, variant.storage, 1, argument_name, variant.value,
                         variant.type, false, variant.stage, 0, values)};
  const auto name = builder.CreateString(variant.name);
  const auto options = builder.CreateString("");
  const auto requirements = builder.CreateVectorOfStrings(std::vector<std::string>{});
  const auto kernel_vector = builder.CreateVector(kernels);
  const auto argument_vector = builder.CreateVector(arguments);
  const auto local_sizes = builder.CreateVectorOfStructs(variant.local_sizes);
  const fb::Hash hash = hash_of(name_of(variant.name));
  const fb::Size3 ones(1, 1, 1);
  return fb::CreateVariant(builder, name, &hash, options, requirements, kernel_vector,
                           variant.source, variant.il32, variant.il64, 0, &ones, &ones,
                           argument_vector, variant.tolerance, variant.launches, 0, local_sizes);
}

inline flatbuffers::Offset<fb::Program> forge(
    flatbuffers::FlatBufferBuilder &builder, const std::string &name,
    const std::vector<flatbuffers::Offset<fb::Variant>> &variants) {
  const auto text = builder.CreateString(name);
  const auto reference = builder.CreateString("");
  const auto variant_vector = builder.CreateVector(variants);
  const auto sizes = builder.CreateVectorOfStructs(std::vector<fb::Size3>{{64, 48, 1}});
  return fb::CreateProgram(builder, text, reference, variant_vector, 0, 0, sizes);
}

// The vectors of records stand in the root even where they are empty, unlike the writer's.
inline Bytes forge_root(flatbuffers::FlatBufferBuilder &builder, const ForgedRoot &root,
                        const std::vector<flatbuffers::Offset<fb::Program>> &programs) {
  const auto targets = builder.CreateVectorOfStructs(root.targets);
  const auto program_vector = builder.CreateVector(programs);
  const auto blobs = builder.CreateVectorOfStructs(root.blobs);
  const auto producer = builder.CreateString("forge");
  const auto tunings = builder.CreateVectorOfStructs(root.tunings);
  const auto texts = builder.CreateVectorOfStrings(root.texts);
  const auto known_bad = builder.CreateVectorOfStructs(root.known_bad);
  flatbuffers::Offset<flatbuffers::Vector<const fb::Hash *>> tuned_variants;
  if (!root.tuned_variants.empty()) {
    tuned_variants = builder.CreateVectorOfStructs(root.tuned_variants);
  }
  builder.Finish(fb::CreateRoot(builder, targets, program_vector, blobs, producer, tunings, texts,
                                known_bad, 1, tuned_variants));
  return taken(builder);
}

inline Bytes forge(const ForgedRoot &root) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<fb::Program>> programs;
  for (const ForgedProgram &program : root.programs) {
    std::vector<flatbuffers::Offset<fb::Variant>> variants;
    for (const ForgedVariant &variant : program.variants) {
      variants.push_back(forge(builder, variant));
    }
    programs.push_back(forge(builder, program.name, variants));
  }
  return forge_root(builder, root, programs);
}

inline Bytes forge(const ForgedSection &section) {
  flatbuffers::FlatBufferBuilder builder;
  const auto provenance_of = [&](std::size_t count) {
    std::vector<flatbuffers::Offset<fb::Provenance>> provenance;
    for (std::size_t i = 0; i < count; ++i) {
      const auto log = builder.CreateString("log");
      const std::vector<fb::KernelFacts> facts(1);
      const auto kernels = builder.CreateVectorOfStructs(facts);
      provenance.push_back(fb::CreateProvenance(builder, log, kernels, section.finality));
    }
    return builder.CreateVector(provenance);
  };
  const auto key = builder.CreateString(section.key);
  const auto text = builder.CreateString("text");
  const auto facts = builder.CreateVector(std::vector<flatbuffers::Offset<fb::Fact>>{});
  const auto binaries = builder.CreateVectorOfStructs(section.binaries);
  const auto provenances = provenance_of(section.binaries.size() + section.provenances);
  const auto blobs = builder.CreateVectorOfStructs(section.blobs);
  const auto intermediates = builder.CreateVectorOfStructs(section.intermediates);
  const auto their_provenances = provenance_of(section.intermediate_provenances);
  const auto cache_entries = builder.CreateVectorOfStructs(section.cache_entries);
  builder.Finish(fb::CreateSection(builder, key, text, text, text, text, facts, binaries,
                                   provenances, blobs, intermediates, their_provenances,
                                   cache_entries));
  return taken(builder);
}

// A pack in the making: blobs and sections, then the root.
class Forge {
 public:
  // `size` is the size of the raw bytes, or the claim of it.
  fb::Blob blob(const Bytes &raw, const Bytes &stored, std::uint32_t codec, std::uint64_t size) {
    const std::uint64_t offset = append(stored);
    return fb::Blob(hash_of(packs::blake2b({raw.data(), raw.size()})), offset, stored.size(), size,
                    packs::xxh3(raw.data(), raw.size()), codec, 0);
  }
  fb::Blob raw_blob(const Bytes &raw) { return blob(raw, raw, 0, raw.size()); }

  fb::TargetEntry section(const std::string &key, const Bytes &bytes) {
    const std::uint64_t offset = append(bytes);
    return fb::TargetEntry(packs::xxh3(key.data(), key.size()), offset, bytes.size(),
                           packs::xxh3(bytes.data(), bytes.size()),
                           hash_of(packs::blake2b({bytes.data(), bytes.size()})));
  }
  fb::TargetEntry section(const ForgedSection &forged) {
    return section(forged.key, forge(forged));
  }

  Bytes finish(const Bytes &root) {
    packs::Superblock superblock;
    superblock.incompat = incompat;
    superblock.root_offset = append(root);
    superblock.root_size = root.size();
    superblock.root_xxh3 = packs::xxh3(root.data(), root.size());
    superblock.pack_size = image_.size();
    packs::encode_superblock(superblock, image_.data());
    return image_;
  }
  Bytes finish(const ForgedRoot &root) { return finish(forge(root)); }

  std::uint32_t incompat = 0;

 private:
  std::uint64_t append(const Bytes &bytes) {
    image_.resize((image_.size() + packs::kAlignment - 1) / packs::kAlignment * packs::kAlignment);
    const std::uint64_t offset = image_.size();
    image_.insert(image_.end(), bytes.begin(), bytes.end());
    return offset;
  }

  Bytes image_ = Bytes(packs::kSuperblockSize);
};

inline Bytes zstd_frame(const Bytes &raw, int level) {
  Bytes frame(ZSTD_compressBound(raw.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), raw.data(), raw.size(), level));
  return frame;
}

// Hashes a changed root or superblock anew.
inline void rehash(Bytes *pack, packs::Superblock superblock) {
  superblock.root_xxh3 = packs::xxh3(pack->data() + superblock.root_offset, superblock.root_size);
  packs::encode_superblock(superblock, pack->data());
}

// Hashes bytes 0 to 55 as they are.
inline void rehash_superblock(Bytes *pack) {
  const std::uint64_t hash = packs::xxh3(pack->data(), 56);
  for (unsigned i = 0; i < 8; ++i) (*pack)[56 + i] = static_cast<std::uint8_t>(hash >> (8 * i));
}

// The fault of opening a pack, or of its programs.
inline Code fault_of_pack(const Bytes &pack) {
  PackPointer out;
  const Code fault = open(pack, &out).code;
  CHECK((out == nullptr) == (fault != Code::ok));
  if (fault != Code::ok) return fault;
  // Each program alone is judged as all are, but for the order of their names.
  packs::ProgramRefs programs;
  const Status all = out->programs(&programs);
  if (all.ok()) {
    for (const packs::ProgramRef program : programs) {
      packs::ProgramRef found;
      CHECK(out->find_program(program.name(), &found).ok());
      CHECK(found == program);
    }
  }
  return all.code;
}

}  // namespace kiln::test

// SPDX-License-Identifier: Apache-2.0
// Small packs for tests, and a pack taken apart into parts that can be compared.
#pragma once

#include <bit>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/writer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace kiln::packs {

// So that a failed check shows the fault's word.
inline std::ostream &operator<<(std::ostream &out, Code fault) { return out << code_name(fault); }

}  // namespace kiln::packs

namespace kiln::test {

using packs::ArgumentStorage;
using packs::Bytes;
using packs::Code;
using packs::Contents;
using packs::ElementType;
using packs::Pack;
using packs::Role;
using packs::Status;
using packs::View;
using PackPointer = std::shared_ptr<const Pack>;

inline Bytes bytes_of(std::string_view text) { return Bytes(text.begin(), text.end()); }

// Bytes that no compressor makes smaller; the same on every machine.
inline Bytes noise(std::size_t size, std::uint32_t seed) {
  Bytes bytes(size);
  for (std::uint8_t &byte : bytes) {
    seed = seed * 1664525u + 1013904223u;
    byte = static_cast<std::uint8_t>(seed >> 24);
  }
  return bytes;
}

inline packs::Digest name_of(std::string_view text) {
  return packs::blake2b({reinterpret_cast<const std::uint8_t *>(text.data()), text.size()});
}

inline packs::Variant variant(const std::string &name, const std::string &source) {
  packs::Variant variant;
  variant.name = name;
  variant.hash = name_of(name + source);
  variant.options = "-cl-std=CL1.2";
  variant.kernels = {{name, 3}};
  variant.source = packs::BlobSource(bytes_of(source));
  variant.arguments = {{Role::input, ArgumentStorage::image, 4, "from", 0},
                       {Role::output, ArgumentStorage::buffer, 1, "to", 0},
                       {Role::parameter, ArgumentStorage::buffer, 1, "sigma", -7}};
  return variant;
}

inline packs::Target target(const std::string &model) {
  return {"profile=test\nmodel=" + model + "\n",   "test", "family", model, "1.0",
          {{"device_name", model}, {"empty", ""}}, {},     {}};
}

inline packs::Binary binary(const packs::Variant &variant, Bytes bytes) {
  return {variant.hash,
          packs::BlobSource(std::move(bytes)),
          "log of " + variant.name,
          {{256, 32, 0, 1024}}};
}

inline std::uint64_t key_hash(const packs::Target &target) {
  return packs::xxh3(target.key.data(), target.key.size());
}

inline packs::Tuning tuning(const packs::Target &where, packs::SizeClass size_class,
                            std::array<std::uint32_t, 3> local_size) {
  packs::Tuning tuning{
      "blur",      "wide",          "scalar",   size_class, where.profile, where.family,
      where.model, key_hash(where), local_size, 81'000,     95'500,        30,
      12,          "idle, 1.5 GHz"};
  return tuning;
}

// Two programs, three variants, two targets; raw and zstd blobs, one of them shared. Without
// measurements: what packs were before there were any.
inline Contents bare_sample() {
  const std::string text(300, 'x');
  packs::Variant plain = variant("plain", "kernel void plain() {}");
  packs::Variant scalar = variant("scalar", "kernel void scalar() {}" + text);
  packs::Variant wide = variant("wide", "kernel void scalar() {}" + text);
  scalar.il32 = packs::BlobSource(noise(40, 1));
  scalar.il64 = packs::BlobSource(noise(48, 2));
  scalar.il_version = 0x00010200;
  wide.requirements = {"image", "cl_khr_fp16"};
  wide.pixels = {4, 1, 1};
  wide.local_size = {16, 8, 1};
  packs::Target first = target("A100");
  packs::Target second = target("B200");
  first.binaries = {binary(scalar, noise(70, 3)), binary(plain, Bytes(500, 7))};
  second.binaries = {binary(scalar, noise(70, 3)), binary(wide, noise(20, 4))};
  Contents contents;
  contents.producer = "clang 14; llvm-spirv 14";
  contents.programs = {{"blur", "blur_reference", {scalar, wide}}, {"invert", "", {plain}}};
  contents.targets = {first, second};
  return contents;
}

// The bare sample with tunings: what packs were before they described launches of several kernels.
inline Contents records_sample() {
  Contents contents = bare_sample();
  const packs::Target &first = contents.targets[0];
  const packs::Target &second = contents.targets[1];
  packs::Tuning standard = tuning(packs::Target{}, packs::SizeClass::medium, {64, 1, 1});
  standard.key_hash = 0;
  contents.tunings = {tuning(first, packs::SizeClass::medium, {16, 4, 1}),
                      tuning(first, packs::SizeClass::large, {32, 8, 1}),
                      tuning(second, packs::SizeClass::medium, {8, 8, 1}), standard};
  for (packs::Tuning &row : contents.tunings) {
    row.variant_hash = contents.programs[0].variants[1].hash;
  }
  return contents;
}

// All of that, hints for a program, and a variant of two kernels that uses every field of a
// launch: what packs were before they knew which binaries are final.
inline Contents launch_sample() {
  Contents contents = records_sample();
  packs::Program &blur = contents.programs[0];
  blur.preferred = {"wide", "not_in_this_pack"};
  blur.baseline = "scalar";
  blur.sizes = {{640, 480, 1}, {3, 1, 2}};
  packs::Variant &wide = blur.variants[1];
  wide.kernels = {{"wide", 3, "width/4 height"}, {"wide_sum", 2, ""}};
  wide.arguments.push_back(
      {Role::output, ArgumentStorage::buffer, 1, "sum", 0, ElementType::uint_, true, 1, "1", {}});
  wide.arguments.push_back({Role::parameter,
                            ArgumentStorage::buffer,
                            4,
                            "weights",
                            0,
                            ElementType::float_,
                            false,
                            1,
                            "",
                            {0.5, -1.25, 0, 1e300}});
  wide.tolerance = 0.25;
  contents.targets[1].binaries[1].kernels.push_back({128, 32, 16, 0});
  packs::Tuning whole = tuning(contents.targets[0], packs::SizeClass::large, {1, 1, 1});
  whole.kernel.clear();
  whole.variant_hash = wide.hash;
  contents.tunings.push_back(whole);
  return contents;
}

// All of that, and a target with final binaries, cache entries and intermediates that use every
// field. After a change rewrite the golden pack with KILN_REGENERATE=1.
inline Contents sample() {
  Contents contents = launch_sample();
  packs::Target &first = contents.targets[0];
  first.intermediates = {first.binaries[0], first.binaries[1]};
  first.intermediates[0].blob = packs::BlobSource(noise(90, 5));
  first.intermediates[0].finish.driver = "580.65.06";
  first.binaries[0].finish = {packs::Finality::yes,   "", "linker 12.8", 155'000, 4096, "580.65.06",
                              {{8, 8, 1}, {64, 1, 1}}};
  first.binaries[0].cache_entries = packs::BlobSource(noise(33, 6));
  first.cache_entries = packs::BlobSource(noise(44, 7));
  first.binaries[1].finish.finality = packs::Finality::no;
  first.binaries[1].finish.why_not = "its first launch took 57 ms longer than its second";
  return contents;
}

// All of that, and the parameters of all kernels but one: every address space, access and
// qualifier.
inline Contents parameters_sample() {
  using packs::AddressSpace;
  using packs::ImageAccess;
  Contents contents = sample();
  packs::Variant &scalar = contents.programs[0].variants[0];
  scalar.kernels[0].parameters = {
      {"from", "image2d_t", 0, AddressSpace::global, ImageAccess::read_only, 0},
      {"to", "float4*", 0, AddressSpace::global, ImageAccess::none, packs::kRestrict},
      {"", "", 4, AddressSpace::private_, ImageAccess::none, 0}};
  packs::Variant &wide = contents.programs[0].variants[1];
  wide.kernels[0].parameters = {
      {"weights", "float*", 0, AddressSpace::constant, ImageAccess::none, packs::kConst},
      {"rows", "int*", 0, AddressSpace::local, ImageAccess::none, packs::kVolatile},
      {"sizes", "struct sizes", 24, AddressSpace::private_, ImageAccess::none, 0}};
  wide.kernels[1].parameters = {
      {"image", "image2d_t", 0, AddressSpace::global, ImageAccess::read_write, 0},
      {"pipe", "int", 0, AddressSpace::global, ImageAccess::write_only, packs::kPipe}};
  return contents;
}

// All of that, limits, and statistics of binaries: of several kernels, and with a name of a later
// Kiln.
inline Contents statistics_sample() {
  using packs::StatisticName;
  Contents contents = parameters_sample();
  contents.programs[0].variants[1].limits = {{0, StatisticName::registers, 64},
                                             {0, StatisticName::waves, 8}};
  contents.targets[0].binaries[0].statistics = {{0, StatisticName::registers, 24},
                                                {0, StatisticName::spills, 0},
                                                {0, StatisticName::waves, 10}};
  contents.targets[1].binaries[1].statistics = {
      {0, StatisticName::scratch_bytes, 4096},
      {0, StatisticName::local_bytes, 1},
      {1, StatisticName::code_bytes, std::uint64_t{1} << 33},
      {1, StatisticName::instructions, 12},
      {1, static_cast<StatisticName>(77), 5}};
  return contents;
}

// The sample with known-bad notes.
inline Contents known_bad_sample() {
  Contents contents = bare_sample();
  contents.known_bad_version = 3;
  contents.known_bad = {
      {{"", "", "mul_*", "adreno", "", "730", "", "", "E031.38", "E031.39", "wrong sums", "a link"},
       packs::kAllRungs},
      {{"blur", "wide", "", "pocl", "", "", "3", "4", "", "", "one row too few", ""}, 2}};
  return contents;
}

// All of that, and the work-group sizes with which an application launches a variant.
inline Contents local_sizes_sample() {
  Contents contents = statistics_sample();
  contents.programs[0].variants[0].local_sizes = {{16, 4, 1}, {64, 1, 1}};
  return contents;
}

// All of that, and the digests of what a binary was made from and proved by.
inline Contents origins_sample() {
  Contents contents = local_sizes_sample();
  packs::Finish &finish = contents.targets[0].binaries[0].finish;
  finish.made_from = "0123456789abcdef0123456789abcdef";
  finish.proved_by = "fedcba9876543210fedcba9876543210";
  return contents;
}

// All of that, and what a build found on a driver that builds a variant wrongly.
inline Contents workarounds_sample() {
  Contents contents = origins_sample();
  contents.programs[0].variants[0].workarounds = {"-DSAFE", "-DNO_SUBGROUPS -DNO_FP16"};
  contents.targets[0].binaries[0].finish.workaround = "-cl-opt-disable";
  contents.known_bad = {
      {{"blur", "wide", "", "pocl", "", "", "3", "3.1", "", "", "one row too few", ""},
       packs::kFoundByBuild | 17}};
  return contents;
}

// All of that, and tunings of another text of a variant, and of a variant that the pack lacks.
inline Contents tuned_variants_sample() {
  Contents contents = workarounds_sample();
  contents.tunings[0].variant_hash = name_of("another text of wide");
  packs::Tuning &gone = contents.tunings.emplace_back(contents.tunings[1]);
  gone.variant = "gone";
  gone.variant_hash = name_of("gone");
  return contents;
}

inline Bytes read_file(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

inline void write_file(const std::filesystem::path &path, const Bytes &bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

// The bytes of the pack that the writer makes.
inline Bytes written(const Contents &contents) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "out.kiln").string();
  const Status status = packs::write_pack(contents, path);
  INFO(status.message);
  REQUIRE(status.code == Code::ok);
  return read_file(path);
}

// `bytes` must outlive the pack. A vector's memory is aligned to 8.
inline Status open(const Bytes &bytes, PackPointer *out) {
  return Pack::open_memory({bytes.data(), bytes.size()}, out);
}

inline PackPointer opened(const Bytes &bytes) {
  PackPointer pack;
  const Status status = open(bytes, &pack);
  INFO(status.message);
  REQUIRE(status.code == Code::ok);
  return pack;
}

// The pack keeps the bytes.
inline PackPointer opened(Bytes &&bytes) {
  struct Kept {
    Bytes bytes;
    PackPointer pack;
  };
  const auto kept = std::make_shared<Kept>(Kept{std::move(bytes), nullptr});
  kept->pack = opened(static_cast<const Bytes &>(kept->bytes));
  return {kept, kept->pack.get()};
}

inline packs::ProgramRefs programs_of(const packs::Pack &pack) {
  packs::ProgramRefs programs;
  REQUIRE(pack.programs(&programs).ok());
  return programs;
}

// Null if the pack has none.
inline packs::VariantRef variant_of(const packs::Pack &pack, std::string_view program,
                                    std::string_view variant) {
  packs::VariantRef found;
  REQUIRE(pack.find_variant(program, variant, &found).ok());
  return found;
}

inline Contents contents_of(const PackPointer &pack) {
  Contents contents;
  const Status status = packs::read_contents(pack, &contents);
  INFO(status.message);
  REQUIRE(status.code == Code::ok);
  return contents;
}

// One part of a pack: the bytes that a caller gets for it, or the fault.
struct Part {
  Code code = Code::ok;
  Bytes bytes;
  bool operator==(const Part &) const = default;
};

inline void append(const flatbuffers::String *text, Part *part) {
  part->bytes.insert(part->bytes.end(), text->begin(), text->end());
  part->bytes.push_back(0);
}

inline Part blob_part(const Pack &pack, const packs::fb::Blob &blob) {
  Bytes scratch;
  View view;
  const Status status = pack.read_blob(packs::BlobRef(&blob), &scratch, &view);
  if (!status.ok()) return {status.code, {}};
  return {Code::ok, Bytes(view.data, view.data + view.size)};
}

inline void append(std::uint64_t number, Part *part) {
  for (unsigned i = 0; i < 8; ++i) {
    part->bytes.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
  }
}

inline void append_records(const packs::fb::Root &root, Part *part) {
  if (root.known_bad() != nullptr) {
    append(std::uint64_t{root.known_bad_version()}, part);
    for (const auto *note : *root.known_bad()) {
      for (const std::uint32_t text : *note->texts()) append(root.texts()->Get(text), part);
      append(std::uint64_t{note->rungs()}, part);
    }
  }
  if (root.tunings() == nullptr) return;
  for (const auto *row : *root.tunings()) {
    for (const std::uint32_t text : {row->program(), row->variant(), row->kernel(), row->profile(),
                                     row->family(), row->model(), row->conditions()}) {
      append(root.texts()->Get(text), part);
    }
    const packs::fb::Size3 &size = row->local_size();
    for (const std::uint64_t number :
         {std::uint64_t{row->size_class()}, row->key_hash(), std::uint64_t{size.x()},
          std::uint64_t{size.y()}, std::uint64_t{size.z()}, row->nanoseconds(),
          row->default_nanoseconds(), std::uint64_t{row->samples()},
          std::uint64_t{row->spread()}}) {
      append(number, part);
    }
  }
}

inline void append(double number, Part *part) {
  append(std::bit_cast<std::uint64_t>(number), part);
}

inline void append_optional(const flatbuffers::String *text, Part *part) {
  append(std::uint64_t{text != nullptr}, part);
  if (text != nullptr) append(text, part);
}

inline void append_launch(const packs::fb::Variant &variant, Part *part) {
  for (const auto *kernel : *variant.kernels()) {
    append(kernel->name(), part);
    append_optional(kernel->range(), part);
    if (kernel->parameters() == nullptr) continue;
    for (const auto *parameter : *kernel->parameters()) {
      for (const std::uint64_t number :
           {std::uint64_t{parameter->name()}, std::uint64_t{parameter->type()},
            std::uint64_t{parameter->size()}, std::uint64_t{parameter->address_space()},
            std::uint64_t{parameter->access()}, std::uint64_t{parameter->qualifiers()}}) {
        append(number, part);
      }
    }
  }
  for (const auto *argument : *variant.arguments()) {
    append(argument->name(), part);
    for (const std::uint8_t value :
         {argument->role(), argument->storage(), argument->channels(), argument->type(),
          static_cast<std::uint8_t>(argument->accumulates()), argument->stage()}) {
      part->bytes.push_back(value);
    }
    append(static_cast<std::uint64_t>(argument->value()), part);
    append_optional(argument->extent(), part);
    if (argument->values() == nullptr) continue;
    for (const double value : *argument->values()) append(value, part);
  }
  append(variant.tolerance(), part);
}

inline void append_hints(const packs::fb::Program &program, Part *part) {
  if (program.preferred() != nullptr) {
    for (const auto *name : *program.preferred()) append(name, part);
  }
  append_optional(program.baseline(), part);
  if (program.sizes() == nullptr) return;
  for (const auto *size : *program.sizes()) {
    for (const std::uint32_t side : {size->x(), size->y(), size->z()}) {
      append(std::uint64_t{side}, part);
    }
  }
}

inline Part root_part(const packs::fb::Root &root) {
  Part part;
  append(root.producer(), &part);
  for (const auto *program : *root.programs()) {
    append(program->name(), &part);
    append(program->reference(), &part);
    append_hints(*program, &part);
    for (const auto *variant : *program->variants()) {
      append(variant->name(), &part);
      append(variant->options(), &part);
      for (const auto *requirement : *variant->requirements()) append(requirement, &part);
      append_launch(*variant, &part);
      const std::uint8_t *hash = variant->hash()->bytes()->data();
      part.bytes.insert(part.bytes.end(), hash, hash + packs::kDigestSize);
    }
  }
  append_records(root, &part);
  return part;
}

inline void append_provenance(
    const flatbuffers::Vector<flatbuffers::Offset<packs::fb::Provenance>> *provenances,
    Part *part) {
  if (provenances == nullptr) return;
  for (const auto *provenance : *provenances) {
    append(provenance->build_log(), part);
    for (const auto *text : {provenance->why_not_final(), provenance->finisher(),
                             provenance->driver(), provenance->proof(), provenance->unproven(),
                             provenance->made_from(), provenance->proved_by()}) {
      if (text != nullptr) append(text, part);
    }
    part->bytes.push_back(provenance->finality());
    for (unsigned i = 0;
         provenance->statistics() != nullptr && i < provenance->statistics()->size(); ++i) {
      const packs::fb::Statistic &statistic = *provenance->statistics()->Get(i);
      for (const std::uint64_t value : {std::uint64_t{statistic.kernel()},
                                        std::uint64_t{statistic.name()}, statistic.value()}) {
        append(value, part);
      }
    }
    if (provenance->local_sizes() == nullptr) continue;
    for (const packs::fb::Size3 *size : *provenance->local_sizes()) {
      for (const std::uint32_t side : {size->x(), size->y(), size->z()}) {
        part->bytes.push_back(static_cast<std::uint8_t>(side));
      }
    }
  }
}

inline Part section_part(const packs::fb::Section &section) {
  Part part;
  for (const auto *text :
       {section.key(), section.profile(), section.family(), section.model(), section.compiler()}) {
    append(text, &part);
  }
  for (const auto *fact : *section.identity()) {
    append(fact->name(), &part);
    append(fact->value(), &part);
  }
  append_provenance(section.provenance(), &part);
  append_provenance(section.intermediate_provenance(), &part);
  for (const packs::Entries *entries :
       {section.binaries(), section.intermediates(), section.cache_entries()}) {
    if (entries == nullptr) continue;
    for (const auto *binary : *entries) {
      const std::uint8_t *hash = binary->variant().bytes()->data();
      part.bytes.insert(part.bytes.end(), hash, hash + packs::kDigestSize);
      part.bytes.push_back(static_cast<std::uint8_t>(binary->blob()));
    }
  }
  return part;
}

using Parts = std::map<std::string, Part>;

inline void add_blobs(const Pack &pack, const std::string &where,
                      const flatbuffers::Vector<const packs::fb::Blob *> &blobs, Parts *parts) {
  for (unsigned i = 0; i < blobs.size(); ++i) {
    (*parts)[where + ", blob " + std::to_string(i)] = blob_part(pack, *blobs.Get(i));
  }
}

// All that a caller can get, by place. The blobs of a damaged section are not among it.
inline Parts parts_of(const Pack &pack) {
  Parts parts{{"root", root_part(pack.schema())}};
  add_blobs(pack, "root", *pack.schema().blobs(), &parts);
  for (std::size_t i = 0; i < pack.target_count(); ++i) {
    const std::string where = "section " + std::to_string(i);
    packs::TargetRef section;
    const Status status = pack.target(i, &section);
    parts[where] = status.ok() ? section_part(section.schema()) : Part{status.code, {}};
    if (status.ok()) add_blobs(pack, where, *section.schema().blobs(), &parts);
  }
  return parts;
}

}  // namespace kiln::test

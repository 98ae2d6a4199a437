// SPDX-License-Identifier: Apache-2.0
// Streams the blobs, then builds sections and root, sorted, and writes the superblock last.
#include "kiln/packs/writer.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>

#include "kiln/packs/bytes.hpp"
#include "kiln/packs/members.hpp"
#include "kiln/packs/output_file.hpp"
#include "packs/read/verifier.hpp"
#include "packs/write/encoder.hpp"
#include "packs/write/record_rows.hpp"

namespace kiln::packs {
namespace {

fb::Size3 to_size3(const std::array<std::uint32_t, 3> &size) { return {size[0], size[1], size[2]}; }

template <typename T>
std::vector<const T *> sorted_by(const std::vector<T> &values, std::string T::*member) {
  std::vector<const T *> sorted;
  for (const T &value : values) sorted.push_back(&value);
  std::sort(sorted.begin(), sorted.end(),
            [member](const T *a, const T *b) { return a->*member < b->*member; });
  return sorted;
}

// Makes a fault that the reader would find in a pack of `contents` the caller's fault.
Status refused(Status status) {
  if (status.code != Code::over_limit) status.code = Code::bad_argument;
  return status;
}

// Returns the bytes of the texts and numbers of a value, blobs aside: a buffer needs no more than
// some bytes more for each. FlatBuffers aborts at 2 GiB.
std::uint64_t size_of(const std::string &text) { return text.size(); }
std::uint64_t size_of(const BlobSource & /*blob*/) { return 0; }
template <typename Number>
requires(std::is_arithmetic_v<Number> || std::is_enum_v<Number>) std::uint64_t
    size_of(Number /*number*/) {
  return sizeof(Number);
}
template <typename Number, std::size_t n>
std::uint64_t size_of(const std::array<Number, n> & /*numbers*/) {
  return n * sizeof(Number);
}
template <typename A, typename B>
std::uint64_t size_of(const std::pair<A, B> &both) {
  return size_of(both.first) + size_of(both.second);
}
template <typename T>
std::uint64_t size_of(const std::optional<T> &value) {
  return value ? size_of(*value) : 0;
}
template <Record T>
std::uint64_t size_of(const T &record);
template <typename T>
std::uint64_t size_of(const std::vector<T> &values) {
  std::uint64_t size = 0;
  for (const T &value : values) size += size_of(value);
  return size;
}
template <Record T>
std::uint64_t size_of(const T &record) {
  return std::apply([](const auto &...member) { return (size_of(member) + ...); }, members(record));
}

// The places of blobs in the file, each stored once, and the root's blobs, which also serve as
// bases.
class BlobStream {
 public:
  BlobStream(OutputFile *file, BlobForms *forms) : file_(file), forms_(forms) {}

  Status put(const BlobSource &source, const BlobUse &use, fb::Blob *out) {
    const auto known = entries_.find(source.name());
    if (known != entries_.end()) {
      *out = known->second;
      return {};
    }
    EncodedBlob coded;
    if (Status s = forms_->encode(source, use, &coded); !s.ok()) return s;
    std::uint32_t base = 0;
    if (coded.base) {
      if (Status s = add_to_root(*coded.base, {}, &base); !s.ok()) return s;
      ++base;
      based_ = true;
    }
    if (Status s = file_->align(); !s.ok()) return s;
    const std::uint64_t offset = file_->size();
    const View stored{coded.stored.data(), coded.stored.size()};
    if (Status s = file_->append(stored); !s.ok()) return s;
    *out = fb::Blob(to_hash(source.name()), offset, stored.size, coded.raw_size, coded.xxh3,
                    static_cast<std::uint32_t>(coded.codec), base);
    entries_.emplace(source.name(), *out);
    return {};
  }

  Status add_to_root(const BlobSource &source, const BlobUse &use, std::uint32_t *index) {
    return root_.add(this, source, use, index);
  }
  const std::vector<fb::Blob> &root() const { return root_.blobs(); }
  bool has_bases() const { return based_; }

  // The blob entries of the root or of a section, each once.
  class Table {
   public:
    Status add(BlobStream *stream, const BlobSource &source, const BlobUse &use,
               std::uint32_t *index) {
      const auto known = indices_.find(source.name());
      if (known != indices_.end()) {
        *index = known->second;
        return {};
      }
      fb::Blob entry;
      if (Status s = stream->put(source, use, &entry); !s.ok()) return s;
      *index = static_cast<std::uint32_t>(blobs_.size());  // after its base, in the root's table
      indices_.emplace(source.name(), *index);
      blobs_.push_back(entry);
      return {};
    }
    const std::vector<fb::Blob> &blobs() const { return blobs_; }

   private:
    std::map<Digest, std::uint32_t> indices_;
    std::vector<fb::Blob> blobs_;
  };

 private:
  OutputFile *file_;
  BlobForms *forms_;
  Table root_;
  std::map<Digest, fb::Blob> entries_;
  bool based_ = false;
};

using Text = flatbuffers::Offset<flatbuffers::String>;

// Empty texts and vectors are left out.
Text optional_text(flatbuffers::FlatBufferBuilder *builder, const std::string &text) {
  return text.empty() ? Text() : builder->CreateString(text);
}

flatbuffers::Offset<flatbuffers::Vector<const fb::Size3 *>> optional_sizes(
    flatbuffers::FlatBufferBuilder *builder,
    const std::vector<std::array<std::uint32_t, 3>> &values) {
  if (values.empty()) return 0;
  std::vector<fb::Size3> sizes;
  for (const auto &value : values) sizes.push_back(to_size3(value));
  return builder->CreateVectorOfStructs(sizes);
}

flatbuffers::Offset<flatbuffers::Vector<const fb::Statistic *>> optional_statistics(
    flatbuffers::FlatBufferBuilder *builder, const std::vector<Statistic> &values) {
  if (values.empty()) return 0;
  std::vector<fb::Statistic> statistics;
  for (const Statistic &value : values) {
    statistics.emplace_back(value.value, value.kernel, static_cast<std::uint32_t>(value.name));
  }
  return builder->CreateVectorOfStructs(statistics);
}

flatbuffers::Offset<fb::Provenance> add_provenance(flatbuffers::FlatBufferBuilder *builder,
                                                   const Binary &binary) {
  std::vector<fb::KernelFacts> facts;
  for (const KernelFacts &k : binary.kernels) {
    facts.emplace_back(k.max_work_group_size, k.preferred_multiple, k.private_bytes, k.local_bytes);
  }
  const Finish &finish = binary.finish;
  const auto log = builder->CreateString(binary.build_log);
  const auto kernels = builder->CreateVectorOfStructs(facts);
  const Text why_not = optional_text(builder, finish.why_not);
  const Text finisher = optional_text(builder, finish.finisher);
  const Text driver = optional_text(builder, finish.driver);
  const auto sizes = optional_sizes(builder, finish.local_sizes);
  const Text proof = optional_text(builder, finish.proof);
  const Text unproven = optional_text(builder, finish.unproven);
  const auto statistics = optional_statistics(builder, binary.statistics);
  const Text made_from = optional_text(builder, finish.made_from);
  const Text proved_by = optional_text(builder, finish.proved_by);
  const Text workaround = optional_text(builder, finish.workaround);
  return fb::CreateProvenance(*builder, log, kernels, static_cast<std::uint8_t>(finish.finality),
                              why_not, finisher, finish.microseconds, finish.unfinished_size,
                              driver, sizes, proof, unproven, statistics, made_from, proved_by,
                              workaround);
}

std::vector<flatbuffers::Offset<fb::Fact>> add_identity(flatbuffers::FlatBufferBuilder *builder,
                                                        const Target &target) {
  std::vector<flatbuffers::Offset<fb::Fact>> facts;
  for (const auto &[fact, text] : target.identity) {
    const Text name = builder->CreateString(fact);
    const Text value = builder->CreateString(text);
    facts.push_back(fb::CreateFact(*builder, name, value));
  }
  return facts;
}

// The binaries or the intermediates of a section.
struct Rows {
  std::vector<fb::Binary> binaries;
  std::vector<flatbuffers::Offset<fb::Provenance>> provenance;
  std::vector<fb::Binary> cache_entries;
};

class PackWriter {
 public:
  PackWriter(const WriteOptions &options, BlobForms *forms)
      : options_(options), forms_(forms), stream_(&file_, forms) {}
  Status write(const Contents &contents, const std::string &path);

 private:
  flatbuffers::Offset<fb::Argument> add_argument(const Argument &a);
  Status add_program(const Program &program);
  Status add_variant(const Variant &variant,
                     std::vector<flatbuffers::Offset<fb::Variant>> *variants);
  Status add_optional(const std::optional<BlobSource> &source, BlobKind kind, std::uint32_t *index);
  Status add_entries(const std::vector<Binary> &binaries, const std::string &profile,
                     flatbuffers::FlatBufferBuilder *builder, BlobStream::Table *blobs, Rows *out);
  Status add_target(const Target &target);
  Status finish(const Contents &contents);
  std::uint32_t incompat() const;
  Status append_part(View raw, View *stored);

  const WriteOptions &options_;
  BlobForms *forms_;
  OutputFile file_;
  BlobStream stream_;
  flatbuffers::FlatBufferBuilder root_;
  RowTexts texts_;
  std::vector<flatbuffers::Offset<fb::Program>> programs_;
  std::vector<fb::TargetEntry> targets_;
  Bytes frame_;
  bool has_frames_ = false;
};

std::uint32_t PackWriter::incompat() const {
  return (stream_.has_bases() ? kIncompatBases : 0) | (has_frames_ ? kIncompatFrames : 0);
}

// Appends a section or the root, for a fleet in a frame. A delta finds nothing in frames, so all
// other packs have none. `stored` is valid until the next call.
Status PackWriter::append_part(View raw, View *stored) {
  *stored = raw;
  if (options_.purpose == Purpose::fleet) {
    if (Status s = compress_part(raw, &frame_); !s.ok()) return s;
    const std::uint64_t most = std::min(kMaxRootSize, kMaxFrameGrowth * frame_.size());
    if (frame_.size() < raw.size && raw.size <= most) {
      *stored = {frame_.data(), frame_.size()};
      has_frames_ = true;
    }
  }
  if (Status s = file_.align(); !s.ok()) return s;
  return file_.append(*stored);
}

Status PackWriter::add_optional(const std::optional<BlobSource> &source, BlobKind kind,
                                std::uint32_t *index) {
  *index = 0;
  if (!source) return {};
  if (Status status = stream_.add_to_root(*source, {kind}, index); !status.ok()) return status;
  ++*index;
  return {};
}

flatbuffers::Offset<fb::Argument> PackWriter::add_argument(const Argument &a) {
  const Text name = root_.CreateString(a.name);
  const Text extent = optional_text(&root_, a.extent);
  const Text fields = optional_text(&root_, a.fields);
  flatbuffers::Offset<flatbuffers::Vector<double>> values;
  if (!a.values.empty()) values = root_.CreateVector(a.values);
  return fb::CreateArgument(root_, static_cast<std::uint8_t>(a.role),
                            static_cast<std::uint8_t>(a.storage), a.channels, name, a.value,
                            static_cast<std::uint8_t>(a.type), a.accumulates, a.stage, extent,
                            values, fields);
}

Status PackWriter::add_variant(const Variant &variant,
                               std::vector<flatbuffers::Offset<fb::Variant>> *variants) {
  std::uint32_t source = 0;
  std::uint32_t il32 = 0;
  std::uint32_t il64 = 0;
  std::uint32_t launches = 0;
  if (Status s = add_optional(variant.source, BlobKind::source, &source); !s.ok()) return s;
  if (Status s = add_optional(variant.il32, BlobKind::il, &il32); !s.ok()) return s;
  if (Status s = add_optional(variant.il64, BlobKind::il, &il64); !s.ok()) return s;
  if (Status s = add_optional(variant.launches, BlobKind::launches, &launches); !s.ok()) return s;
  std::vector<flatbuffers::Offset<fb::Kernel>> kernels;
  for (const Kernel &kernel : variant.kernels) {
    const Text kernel_name = root_.CreateString(kernel.name);
    const Text range = optional_text(&root_, kernel.range);
    const auto parameters = add_parameters(kernel.parameters, texts_, &root_);
    kernels.push_back(fb::CreateKernel(root_, kernel_name, kernel.arguments, range, parameters));
  }
  std::vector<flatbuffers::Offset<fb::Argument>> arguments;
  for (const Argument &a : variant.arguments) arguments.push_back(add_argument(a));
  const auto name = root_.CreateString(variant.name);
  const auto options = root_.CreateString(variant.options);
  const auto requirements = root_.CreateVectorOfStrings(variant.requirements);
  const auto kernel_vector = root_.CreateVector(kernels);
  const auto argument_vector = root_.CreateVector(arguments);
  const auto limits = optional_statistics(&root_, variant.limits);
  const auto local_sizes = optional_sizes(&root_, variant.local_sizes);
  flatbuffers::Offset<flatbuffers::Vector<Text>> workarounds;
  if (!variant.workarounds.empty()) workarounds = root_.CreateVectorOfStrings(variant.workarounds);
  const fb::Hash hash = to_hash(variant.hash);
  const fb::Size3 pixels = to_size3(variant.pixels);
  const fb::Size3 local_size = to_size3(variant.local_size);
  variants->push_back(fb::CreateVariant(root_, name, &hash, options, requirements, kernel_vector,
                                        source, il32, il64, variant.il_version, &pixels,
                                        &local_size, argument_vector, variant.tolerance, launches,
                                        limits, local_sizes, workarounds));
  return {};
}

Status PackWriter::add_program(const Program &program) {
  std::vector<flatbuffers::Offset<fb::Variant>> variants;
  for (const Variant *variant : sorted_by(program.variants, &Variant::name)) {
    if (Status status = add_variant(*variant, &variants); !status.ok()) return status;
  }
  const auto name = root_.CreateString(program.name);
  const auto reference = root_.CreateString(program.reference);
  const auto variant_vector = root_.CreateVector(variants);
  flatbuffers::Offset<flatbuffers::Vector<Text>> preferred;
  if (!program.preferred.empty()) preferred = root_.CreateVectorOfStrings(program.preferred);
  const auto size_vector = optional_sizes(&root_, program.sizes);
  const Text baseline = optional_text(&root_, program.baseline);
  programs_.push_back(
      fb::CreateProgram(root_, name, reference, variant_vector, preferred, baseline, size_vector));
  return {};
}

Status PackWriter::add_entries(const std::vector<Binary> &binaries, const std::string &profile,
                               flatbuffers::FlatBufferBuilder *builder, BlobStream::Table *blobs,
                               Rows *out) {
  std::vector<const Binary *> sorted;
  for (const Binary &binary : binaries) sorted.push_back(&binary);
  std::sort(sorted.begin(), sorted.end(),
            [](const Binary *a, const Binary *b) { return a->variant < b->variant; });
  for (const Binary *binary : sorted) {
    std::uint32_t index = 0;
    const BlobUse use{BlobKind::binary, binary->variant, profile};
    if (Status s = blobs->add(&stream_, binary->blob, use, &index); !s.ok()) return s;
    out->binaries.emplace_back(to_hash(binary->variant), index, 0);
    out->provenance.push_back(add_provenance(builder, *binary));
    if (!binary->cache_entries) continue;
    const BlobUse more{BlobKind::cache_entries};
    if (Status s = blobs->add(&stream_, *binary->cache_entries, more, &index); !s.ok()) return s;
    out->cache_entries.emplace_back(to_hash(binary->variant), index, 0);
  }
  return {};
}

Status PackWriter::add_target(const Target &target) {
  if (size_of(target) > kMaxSectionSize) {
    return Status::error(Code::over_limit, "a target's section is over 64 MiB");
  }
  flatbuffers::FlatBufferBuilder builder;
  BlobStream::Table blobs;
  Rows final;
  Rows intermediate;
  if (target.cache_entries) {
    std::uint32_t index = 0;
    const BlobUse use{BlobKind::cache_entries};
    if (Status s = blobs.add(&stream_, *target.cache_entries, use, &index); !s.ok()) return s;
    final.cache_entries.emplace_back(to_hash(Digest{}), index, 0);
  }
  if (Status s = add_entries(target.binaries, target.profile, &builder, &blobs, &final); !s.ok())
    return s;
  if (Status s = add_entries(target.intermediates, target.profile, &builder, &blobs, &intermediate);
      !s.ok()) {
    return s;
  }
  const auto facts = add_identity(&builder, target);
  const auto key = builder.CreateString(target.key);
  const auto profile = builder.CreateString(target.profile);
  const auto family = builder.CreateString(target.family);
  const auto model = builder.CreateString(target.model);
  const auto compiler = builder.CreateString(target.compiler);
  const auto identity = builder.CreateVector(facts);
  const auto binary_vector = builder.CreateVectorOfStructs(final.binaries);
  const auto provenance_vector = builder.CreateVector(final.provenance);
  const auto blob_vector = builder.CreateVectorOfStructs(blobs.blobs());
  flatbuffers::Offset<Entries> intermediates;
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::Provenance>>> their_provenance;
  flatbuffers::Offset<Entries> cache_entries;
  if (!intermediate.binaries.empty()) {
    intermediates = builder.CreateVectorOfStructs(intermediate.binaries);
    their_provenance = builder.CreateVector(intermediate.provenance);
  }
  if (!final.cache_entries.empty())
    cache_entries = builder.CreateVectorOfStructs(final.cache_entries);
  builder.Finish(fb::CreateSection(builder, key, profile, family, model, compiler, identity,
                                   binary_vector, provenance_vector, blob_vector, intermediates,
                                   their_provenance, cache_entries));
  if (builder.GetSize() > kMaxSectionSize) {
    return Status::error(Code::over_limit, "a target's section is over 64 MiB");
  }
  const View bytes{builder.GetBufferPointer(), builder.GetSize()};
  View stored;
  if (Status s = append_part(bytes, &stored); !s.ok()) return s;
  targets_.emplace_back(xxh3(target.key), file_.size() - stored.size, stored.size,
                        xxh3(stored.data, stored.size), to_hash(blake2b(stored)));
  Superblock so_far;
  so_far.pack_size = file_.size() - stored.size;
  so_far.incompat = incompat();
  const auto bases = static_cast<std::uint32_t>(stream_.root().size());
  Status s = check_section(bytes, targets_.back(), so_far, bases);
  return s.ok() ? s : refused(std::move(s));
}

Status PackWriter::finish(const Contents &contents) {
  std::sort(targets_.begin(), targets_.end(),
            [](const fb::TargetEntry &a, const fb::TargetEntry &b) {
              if (a.key_hash() != b.key_hash()) return a.key_hash() < b.key_hash();
              return compare(a.name(), b.name()) < 0;
            });
  const auto targets = root_.CreateVectorOfStructs(targets_);
  const auto programs = root_.CreateVector(programs_);
  const auto blobs = root_.CreateVectorOfStructs(stream_.root());
  const auto producer = root_.CreateString(contents.producer);
  const std::vector<Text> strings = texts_.add(&root_);
  const auto tunings = add_tunings(contents.tunings, texts_, &root_);
  const auto tuned_variants = add_tuned_variants(contents, &root_);
  const auto notes = add_known_bad(contents.known_bad, texts_, &root_);
  flatbuffers::Offset<flatbuffers::Vector<Text>> texts;
  if (!strings.empty()) texts = root_.CreateVector(strings);
  root_.Finish(fb::CreateRoot(root_, targets, programs, blobs, producer, tunings, texts, notes,
                              contents.known_bad_version, tuned_variants));
  const View root{root_.GetBufferPointer(), root_.GetSize()};
  View stored;
  if (Status s = append_part(root, &stored); !s.ok()) return s;
  Superblock superblock;
  superblock.incompat = incompat();
  if (superblock.incompat != 0) superblock.needed = kIncompatSince;
  superblock.root_offset = file_.size() - stored.size;
  superblock.root_size = stored.size;
  superblock.root_xxh3 = xxh3(stored.data, stored.size);
  superblock.pack_size = superblock.root_offset + superblock.root_size;
  std::uint8_t bytes[kSuperblockSize];
  encode_superblock(superblock, bytes);
  if (Status s = decode_superblock(bytes, superblock.pack_size, &superblock); !s.ok()) return s;
  const fb::Root *checked = nullptr;
  Status status = check_root(root, superblock, &checked);
  if (status.ok()) status = check_programs(root, *checked);
  if (!status.ok()) return refused(std::move(status));
  if (Status s = file_.rewrite_start({bytes, sizeof(bytes)}); !s.ok()) return s;
  return file_.commit(options_.is_synced);
}

Status PackWriter::write(const Contents &contents, const std::string &path) {
  const auto targets = sorted_by(contents.targets, &Target::key);
  const auto same_key = [](const Target *a, const Target *b) { return a->key == b->key; };
  if (std::adjacent_find(targets.begin(), targets.end(), same_key) != targets.end()) {
    return Status::error(Code::bad_argument, "two targets have the same key");
  }
  texts_ = RowTexts(contents);
  if (size_of(contents.programs) + contents.producer.size() + texts_.size() > kMaxRootSize) {
    return Status::error(Code::over_limit, "the root is over 256 MiB");
  }
  if (Status s = file_.open(path, options_.is_private); !s.ok()) return s;
  const std::uint8_t placeholder[kSuperblockSize] = {};
  if (Status s = file_.append({placeholder, sizeof(placeholder)}); !s.ok()) return s;
  if (Status s = forms_->prepare(contents); !s.ok()) return s;
  for (const Program *program : sorted_by(contents.programs, &Program::name)) {
    if (Status s = add_program(*program); !s.ok()) return s;
  }
  for (const Target *target : targets) {
    if (Status s = add_target(*target); !s.ok()) return s;
  }
  return finish(contents);
}

}  // namespace

Status write_pack(const Contents &contents, const std::string &path, const WriteOptions &options) {
  Encoder encoder(options.purpose);
  return PackWriter(options, &encoder).write(contents, path);
}

Status write_raw_pack(const Contents &contents, const std::string &path,
                      const WriteOptions &options) {
  RawForms forms;
  return PackWriter(options, &forms).write(contents, path);
}

}  // namespace kiln::packs

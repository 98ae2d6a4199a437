// SPDX-License-Identifier: Apache-2.0
// Reads an open pack into values, and computes the names of blobs and variants.
#include "kiln/packs/contents.hpp"

#include <algorithm>

#include <sodium.h>

#include "kiln/packs/find_rows.hpp"
#include "kiln/packs/text.hpp"

namespace kiln::packs {
namespace {

std::optional<BlobSource> optional_blob(const std::shared_ptr<const Pack> &pack, BlobRef blob) {
  if (!blob) return std::nullopt;
  return BlobSource(pack, blob);
}

std::string text(const flatbuffers::String *optional) {
  return optional == nullptr ? std::string() : optional->str();
}

Argument read_argument(const fb::Argument &in) {
  Argument out{static_cast<Role>(in.role()),
               static_cast<ArgumentStorage>(in.storage()),
               in.channels(),
               in.name()->str(),
               in.value(),
               static_cast<ElementType>(in.type()),
               in.accumulates(),
               in.stage(),
               text(in.extent()),
               {},
               text(in.fields())};
  if (in.values() != nullptr) out.values.assign(in.values()->begin(), in.values()->end());
  return out;
}

Kernel read_kernel(const Pack &pack, const fb::Kernel &in) {
  Kernel out{in.name()->str(), in.arguments(), text(in.range())};
  const auto parameters = KernelRef(&in).parameters();
  for (const ParameterRef parameter : parameters) {
    out.parameters.push_back(
        {std::string(text_at(pack, parameter.name())), std::string(text_at(pack, parameter.type())),
         parameter.size(), parameter.address_space(), parameter.access(), parameter.qualifiers()});
  }
  return out;
}

std::vector<Statistic> read_statistics(
    const flatbuffers::Vector<const fb::Statistic *> *statistics) {
  std::vector<Statistic> out;
  if (statistics == nullptr) return out;
  for (const fb::Statistic *statistic : *statistics) {
    out.push_back(
        {statistic->kernel(), static_cast<StatisticName>(statistic->name()), statistic->value()});
  }
  return out;
}

Variant read_variant(const std::shared_ptr<const Pack> &pack, const fb::Variant &in) {
  Variant out;
  out.name = in.name()->str();
  out.hash = to_digest(*in.hash());
  out.options = in.options()->str();
  for (const auto *requirement : *in.requirements()) {
    out.requirements.push_back(requirement->str());
  }
  for (const auto *kernel : *in.kernels()) out.kernels.push_back(read_kernel(*pack, *kernel));
  out.source = optional_blob(pack, pack->blob(in.source()));
  out.il32 = optional_blob(pack, pack->blob(in.il32()));
  out.il64 = optional_blob(pack, pack->blob(in.il64()));
  out.il_version = in.il_version();
  out.pixels = to_array(*in.pixels());
  out.local_size = to_array(*in.local_size());
  for (const auto *argument : *in.arguments()) {
    out.arguments.push_back(read_argument(*argument));
  }
  out.tolerance = in.tolerance();
  out.launches = optional_blob(pack, pack->blob(in.launches()));
  out.limits = read_statistics(in.limits());
  if (in.local_sizes() != nullptr) {
    for (const fb::Size3 *size : *in.local_sizes()) out.local_sizes.push_back(to_array(*size));
  }
  if (in.workarounds() != nullptr) {
    for (const auto *options : *in.workarounds()) out.workarounds.push_back(options->str());
  }
  return out;
}

void read_hints(const fb::Program &in, Program *out) {
  out->baseline = text(in.baseline());
  if (in.preferred() != nullptr) {
    for (const auto *name : *in.preferred()) out->preferred.push_back(name->str());
  }
  if (in.sizes() == nullptr) return;
  for (const fb::Size3 *size : *in.sizes()) out->sizes.push_back(to_array(*size));
}

Finish read_finish(const fb::Provenance &in) {
  Finish out{static_cast<Finality>(in.finality()),
             text(in.why_not_final()),
             text(in.finisher()),
             in.finish_microseconds(),
             in.unfinished_size(),
             text(in.driver()),
             {},
             text(in.proof()),
             text(in.unproven()),
             text(in.made_from()),
             text(in.proved_by()),
             text(in.workaround())};
  if (in.local_sizes() == nullptr) return out;
  for (const fb::Size3 *size : *in.local_sizes()) out.local_sizes.push_back(to_array(*size));
  return out;
}

void read_binaries(const std::shared_ptr<const Pack> &pack, const fb::Section &section,
                   const flatbuffers::Vector<const fb::Binary *> &binaries,
                   const flatbuffers::Vector<flatbuffers::Offset<fb::Provenance>> &provenances,
                   std::vector<Binary> *out) {
  for (unsigned i = 0; i < binaries.size(); ++i) {
    const fb::Binary &binary = *binaries.Get(i);
    const fb::Provenance &provenance = *provenances.Get(i);
    Binary value{to_digest(binary.variant()),
                 BlobSource(pack, BlobRef(section.blobs()->Get(binary.blob()))),
                 provenance.build_log()->str()};
    for (const auto *facts : *provenance.kernels()) {
      value.kernels.push_back({facts->max_work_group_size(), facts->preferred_multiple(),
                               facts->private_bytes(), facts->local_bytes()});
    }
    value.finish = read_finish(provenance);
    value.statistics = read_statistics(provenance.statistics());
    out->push_back(std::move(value));
  }
}

Target read_target(const std::shared_ptr<const Pack> &pack, const fb::Section &in) {
  Target out{in.key()->str(),
             in.profile()->str(),
             in.family()->str(),
             in.model()->str(),
             in.compiler()->str(),
             {},
             {},
             {}};
  for (const auto *fact : *in.identity()) {
    out.identity.emplace_back(fact->name()->str(), fact->value()->str());
  }
  read_binaries(pack, in, *in.binaries(), *in.provenance(), &out.binaries);
  if (in.intermediates() != nullptr) {
    read_binaries(pack, in, *in.intermediates(), *in.intermediate_provenance(), &out.intermediates);
  }
  const auto cache_entries = [&](const Digest &variant) {
    return optional_blob(pack, TargetRef(&in).find_cache_entries(variant));
  };
  out.cache_entries = cache_entries(Digest{});
  for (Binary &binary : out.binaries) binary.cache_entries = cache_entries(binary.variant);
  return out;
}

void read_known_bad(const Pack &pack, Contents *out) {
  out->known_bad_version = pack.schema().known_bad_version();
  for (const KnownBadRef note : known_bad(pack)) {
    KnownBad value;
    for (std::uint32_t i = 0; i < kNoteTexts; ++i) value.texts[i] = text_at(pack, note.text(i));
    value.rungs = note.rungs();
    out->known_bad.push_back(std::move(value));
  }
}

// Returns the hash of the variant that the tuning of this index measured; zeros if it is not known.
Digest measured_variant(const Pack &pack, const Tuning &tuning, std::size_t index) {
  Digest hash{};
  if (const auto *hashes = pack.schema().tuned_variants(); hashes != nullptr) {
    hash = to_digest(*hashes->Get(static_cast<flatbuffers::uoffset_t>(index)));
  }
  VariantRef packed;
  if (hash != Digest{} || !pack.find_variant(tuning.program, tuning.variant, &packed).ok()) {
    return hash;
  }
  return packed ? packed.hash() : hash;
}

void read_records(const Pack &pack, Contents *out) {
  const fb::Root &root = pack.schema();
  if (root.tunings() == nullptr) return;
  const auto text = [&](std::uint32_t index) { return root.texts()->Get(index)->str(); };
  for (const fb::Tuning *row : *root.tunings()) {
    out->tunings.push_back(
        {text(row->program()), text(row->variant()), text(row->kernel()),
         static_cast<SizeClass>(row->size_class()), text(row->profile()), text(row->family()),
         text(row->model()), row->key_hash(), to_array(row->local_size()), row->nanoseconds(),
         row->default_nanoseconds(), row->samples(), row->spread(), text(row->conditions())});
    Tuning &tuning = out->tunings.back();
    tuning.variant_hash = measured_variant(pack, tuning, out->tunings.size() - 1);
  }
}

}  // namespace

Digest blake2b(View bytes) {
  Digest name{};
  crypto_generichash(name.data(), name.size(), bytes.data, bytes.size, nullptr, 0);
  return name;
}

Digest variant_hash(std::string_view source, std::string_view options,
                    const std::vector<std::string> &kernels) {
  std::string text = concat({"kiln variant 1\n", decimal(source.size()), " ", source, "\n",
                             decimal(options.size()), " ", options, "\n"});
  for (const std::string &kernel : kernels) text += kernel + "\n";
  return blake2b({reinterpret_cast<const std::uint8_t *>(text.data()), text.size()});
}

std::string hex(const Digest &name) { return hex(name.data(), name.size()); }

BlobSource::BlobSource(Bytes raw) : raw_(std::make_shared<const Bytes>(std::move(raw))) {
  name_ = blake2b({raw_->data(), raw_->size()});
}

BlobSource::BlobSource(std::shared_ptr<const Pack> pack, BlobRef blob)
    : pack_(std::move(pack)), blob_(blob), name_(blob.name()) {}

BlobSource::BlobSource(const Digest &name, std::uint64_t size, Read read)
    : on_demand_(std::make_shared<const OnDemand>(OnDemand{size, std::move(read)})), name_(name) {}

std::uint64_t BlobSource::raw_size() const {
  if (on_demand_) return on_demand_->size;
  return raw_ ? raw_->size() : blob_.raw_size();
}

Status BlobSource::read(Bytes *out) const {
  if (on_demand_) return on_demand_->read(out);
  if (raw_) {
    *out = *raw_;
    return {};
  }
  Bytes scratch;
  View view;
  if (Status status = pack_->read_blob(blob_, &scratch, &view); !status.ok()) return status;
  out->assign(view.data, view.data + view.size);
  return {};
}

Status read_contents(const std::shared_ptr<const Pack> &pack, Contents *out) {
  ProgramRefs programs;
  if (Status status = pack->programs(&programs); !status.ok()) return status;
  Contents contents;
  contents.producer = pack->schema().producer()->str();
  for (const ProgramRef program : programs) {
    const fb::Program &schema = program.schema();
    Program value{schema.name()->str(), schema.reference()->str(), {}, {}, {}, {}};
    for (const auto *variant : *schema.variants()) {
      value.variants.push_back(read_variant(pack, *variant));
    }
    read_hints(schema, &value);
    contents.programs.push_back(std::move(value));
  }
  for (std::size_t i = 0; i < pack->target_count(); ++i) {
    TargetRef target;
    if (Status status = pack->target(i, &target); !status.ok()) return status;
    contents.targets.push_back(read_target(pack, target.schema()));
  }
  read_records(*pack, &contents);
  read_known_bad(*pack, &contents);
  *out = std::move(contents);
  return {};
}

NoteView KnownBad::view() const {
  NoteView view;
  for (std::size_t i = 0; i < kNoteTexts; ++i) view[static_cast<NoteText>(i)] = texts[i];
  return view;
}

std::size_t preference(const Program &program, const Variant &variant) {
  const auto &order = program.preferred;
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), variant.name) -
                                  order.begin());
}

}  // namespace kiln::packs

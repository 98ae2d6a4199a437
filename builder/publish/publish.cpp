// SPDX-License-Identifier: Apache-2.0
// Splits a pack into its programs and one pack for each target, and adds them to a layout. Fetching
// picks a layer by its annotations and applies it to the programs.
#include "builder/publish/publish.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "builder/base/names.hpp"
#include "builder/base/whole_file.hpp"
#include "builder/inspect/pack_json.hpp"
#include "builder/inspect/pack_slice.hpp"
#include "builder/inspect/printable.hpp"
#include "builder/publish/public_keys.hpp"
#include "builder/publish/signed_tags.hpp"
#include "kiln/packs/bytes.hpp"
#include "kiln/packs/delta.hpp"
#include "kiln/packs/text.hpp"
#include "kiln/packs/writer.hpp"

namespace kiln::builder {

namespace {

using packs::Contents;
using packs::Target;

std::string fact_of(const Target &target, const std::string &name) {
  for (const auto &[fact, value] : target.identity) {
    if (fact == name) return value;
  }
  return {};
}

Annotations annotations_of(const Target &target) {
  const std::string key = packs::hex64(packs::xxh3(target.key));
  Annotations out{{kTitleAnnotation, key + ".kdelta"}, {"vnd.kiln.key", key}};
  const std::pair<const char *, std::string> facts[] = {
      {"vnd.kiln.profile", target.profile},
      {"vnd.kiln.family", target.family},
      {"vnd.kiln.model", target.model},
      {"vnd.kiln.compiler", target.compiler},
      {"vnd.kiln.device", fact_of(target, "device_name")},
      {"vnd.kiln.driver", fact_of(target, "driver_version")}};
  for (const auto &[name, value] : facts) {
    if (!value.empty()) out[name] = value;
  }
  return out;
}

// Returns the highest revision in the layout, or 0.
Result<std::uint64_t> highest_revision(const OciFolder &folder) {
  std::uint64_t highest = 0;
  for (const OciDescriptor &descriptor : folder.index().manifests()) {
    if (descriptor.media_type != kManifestType) continue;
    const auto manifest = folder.manifest(descriptor);
    if (!manifest.ok()) return manifest.status();
    highest = std::max(highest, manifest->revision().value_or(0));
  }
  return highest;
}

Result<std::uint64_t> choose_revision(const OciFolder &folder, const PublishRequest &request) {
  const auto highest = highest_revision(folder);
  if (!highest.ok()) return highest.status();
  const std::uint64_t revision = request.revision.value_or(*highest + 1);
  if (!revision_of({{kRevisionAnnotation, std::to_string(revision)}})) {
    return Status(Code::bad_argument, "a revision is a number of 1 to 18 digits, and not 0");
  }
  if (revision >= *highest) return revision;
  return Status(Code::bad_argument, fmt::format("revision {} is older than {}, which is published",
                                                revision, *highest));
}

class Publisher {
 public:
  Publisher(const Contents &contents, OciFolder *folder, const PublishRequest &request)
      : contents_(contents), folder_(folder), request_(request) {}

  Result<Artifact> publish() {
    if (Status s = check_tag(); !s.ok()) return s;
    const auto revision = choose_revision(*folder_, request_);
    if (!revision.ok()) return revision.status();
    published_.revision = *revision;
    if (Status s = check_revision_tag(); !s.ok()) return s;
    if (Status s = add_programs(); !s.ok()) return s;
    if (Status s = sign_slices(); !s.ok()) return s;
    if (Status s = each_slice([&](const Slice &slice) { return add_delta(slice); }); !s.ok()) {
      return s;
    }
    if (Status s = add_manifest(); !s.ok()) return s;
    return std::move(published_);
  }

 private:
  // A pack that devices will get: one target with its programs, or the programs alone.
  struct Slice {
    Contents contents;
    Annotations annotations;
    std::string label;
  };

  std::string revision_tag() const { return fmt::format("r{}", published_.revision); }

  Status check_tag() const {
    if (is_tag(request_.tag)) return {};
    return {Code::bad_argument, fmt::format("no registry takes the tag \"{}\"", request_.tag)};
  }

  Status check_revision_tag() const {
    const std::string &tag = request_.tag;
    if (!is_reserved_tag(tag) || tag == revision_tag()) return {};
    return {Code::bad_argument,
            fmt::format("the tag {} is reserved; this is revision {}", tag, published_.revision)};
  }

  std::string scratch(const char *name) const { return folder_->scratch() + "/" + name; }

  // Changes Code::io_error to Code::failed for a file in the scratch folder.
  static Status failed_write(Status written) {
    if (written.code == Code::io_error) written.code = Code::failed;
    return written;
  }

  void add_layer(OciDescriptor blob, Annotations annotations, const std::string &label) {
    blob.annotations = std::move(annotations);
    published_.layers.push_back({std::move(blob), label});
  }

  // Adds the pack without the targets of devices. This pack has the same bytes in each revision
  // with the same programs, and is not signed, because the packs made from it are signed.
  Status add_programs() {
    const std::string path = scratch("programs.kiln");
    if (Status s = failed_write(packs::write_pack(without_targets(), path)); !s.ok()) return s;
    const auto blob = folder_->add_file(path, kProgramsType);
    if (!blob.ok()) return blob.status();
    const std::string stored = folder_->blob_path(blob->digest);
    if (Status s = packs::Pack::open_file(stored.c_str(), &programs_); !s.ok()) return s;
    add_layer(*blob, {{kTitleAnnotation, "programs.kiln"}}, "programs");
    return {};
  }

  Contents without_targets() const {
    Cut cut;
    cut.devices.emplace();
    return cut_contents(contents_, cut);
  }

  Status each_slice(const std::function<Status(const Slice &)> &use) const {
    Status s =
        use({without_targets(), {{kTitleAnnotation, "any.kdelta"}}, "programs for any device"});
    if (!s.ok()) return s;
    std::vector<const Target *> targets;
    for (const Target &target : contents_.targets) targets.push_back(&target);
    std::sort(targets.begin(), targets.end(),
              [](const Target *a, const Target *b) { return a->key < b->key; });
    Contents one{contents_.producer, contents_.programs,  {},
                 contents_.tunings,  contents_.known_bad, contents_.known_bad_version};
    for (const Target *target : targets) {
      Cut cut;
      cut.devices = Cut::Devices{{target->key}, {target->profile}};
      one.targets = {*target};
      s = use({cut_contents(one, cut), annotations_of(*target), target_label(*target)});
      if (!s.ok()) return s;
    }
    return {};
  }

  // Writes the slice over the previous one.
  Status write_slice(const Slice &slice, std::shared_ptr<const packs::Pack> *pack) const {
    const std::string path = scratch("slice.kiln");
    Status s = failed_write(packs::write_pack(slice.contents, path));
    return s.ok() ? packs::Pack::open_file(path.c_str(), pack) : s;
  }

  // Slices are written twice rather than kept, because many targets would take much space. The same
  // contents give the same bytes.
  Status sign_slices() {
    if (request_.signers.empty()) return {};
    std::vector<std::string> statements;
    Status s = each_slice([&](const Slice &slice) {
      std::shared_ptr<const packs::Pack> pack;
      if (Status written = write_slice(slice, &pack); !written.ok()) return written;
      statements.push_back(
          packs::statement(pack->superblock(), packs::root_name(*pack), published_.revision));
      return Status();
    });
    const std::string comment = fmt::format("kiln pack, revision {}", published_.revision);
    for (const Signer &sign : request_.signers) {
      if (s.ok()) s = sign(statements, comment).move_to(&signatures_.emplace_back());
    }
    return s;
  }

  Status add_signatures(std::shared_ptr<const packs::Pack> *pack) {
    std::vector<packs::Signature> signatures;
    for (const std::vector<packs::Detached> &of_signer : signatures_) {
      packs::Signature signature;
      Status s = packs::read_detached(**pack, of_signer.at(next_slice_), &signature);
      if (s.ok()) s = packs::add_signature(signature, &signatures);
      if (!s.ok()) return s;
    }
    ++next_slice_;
    const std::string path = scratch("signed.kiln");
    Status s = failed_write(packs::write_signed(**pack, signatures, path));
    return s.ok() ? packs::Pack::open_file(path.c_str(), pack) : s;
  }

  Status add_delta(const Slice &slice) {
    const std::string delta = scratch("slice.kdelta");
    std::shared_ptr<const packs::Pack> pack;
    if (Status s = write_slice(slice, &pack); !s.ok()) return s;
    if (!signatures_.empty()) {
      if (Status s = add_signatures(&pack); !s.ok()) return s;
    }
    packs::DeltaFacts facts;
    if (Status s = failed_write(packs::make_delta(*programs_, *pack, delta, &facts)); !s.ok()) {
      return s;
    }
    const auto blob = folder_->add_file(delta, kDeltaType);
    if (!blob.ok()) return blob.status();
    Annotations annotations = slice.annotations;
    annotations["vnd.kiln.pack.blake2b"] = packs::hex(facts.new_name);
    annotations["vnd.kiln.pack.size"] = std::to_string(facts.new_size);
    add_layer(*blob, std::move(annotations), slice.label);
    return {};
  }

  Status add_manifest() {
    const auto config = folder_->add_text("{}", kEmptyType);
    if (!config.ok()) return config.status();
    OciManifest manifest{kArtifactType, *config, {}, {}};
    const std::string revision = std::to_string(published_.revision);
    manifest.annotations[kRevisionAnnotation] = revision;
    for (const ArtifactLayer &layer : published_.layers) manifest.layers.push_back(layer.blob);
    const std::string text = manifest_json(manifest);
    if (text.size() > kMaxOciText) {
      return {Code::over_limit, "the manifest is over 4 MiB: the pack has too many targets"};
    }
    auto blob = folder_->add_text(text, kManifestType);
    if (!blob.ok()) return blob.status();
    const OciDescriptor *const before = folder_->index().find(revision_tag());
    if (before != nullptr && before->digest != blob->digest) {
      return {Code::bad_argument,
              fmt::format("revision {} is published already, with other contents", revision)};
    }
    blob->annotations[kRevisionAnnotation] = revision;
    const std::string created =
        before != nullptr ? annotation_of(*before, kCreatedAnnotation) : request_.today;
    if (!created.empty()) blob->annotations[kCreatedAnnotation] = created;
    folder_->index().set(revision_tag(), *blob);
    if (request_.tag != revision_tag()) folder_->index().set(request_.tag, *blob);
    published_.digest = blob->digest;
    return folder_->commit();
  }

  const Contents &contents_;
  OciFolder *folder_;
  const PublishRequest &request_;
  std::shared_ptr<const packs::Pack> programs_;
  // For each signer one for each slice, in the order of slices.
  std::vector<std::vector<packs::Detached>> signatures_;
  std::size_t next_slice_ = 0;
  Artifact published_;
};

std::string list_layers(const std::vector<const OciDescriptor *> &layers) {
  std::string text;
  for (const OciDescriptor *layer : layers) {
    text += "\n  " + printable_line(fmt::format(
                         "{}  {}, profile {}", annotation_of(*layer, "vnd.kiln.key"),
                         layer_label(*layer), annotation_of(*layer, "vnd.kiln.profile")));
  }
  return text;
}

// Whether the word is a key's hash, which a device has, and not a glob, which a person gives.
bool is_key_hash(const std::string &word) {
  return word.size() == 16 && word.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Returns the descriptor of a manifest that a signed statement names.
Result<OciDescriptor> descriptor_of(const OciFolder &folder, const std::string &digest) {
  for (const OciDescriptor &descriptor : folder.index().manifests()) {
    if (descriptor.digest == digest) return descriptor;
  }
  return Status(Code::not_found, fmt::format("the layout lacks the signed manifest {}", digest));
}

// Finds the manifest by the device's keys, which are replaced even if the fetch then fails, so that
// a revoked key does not count again.
Result<OciDescriptor> find_signed(const OciFolder &folder, const FetchRequest &request) {
  const packs::FolderLock lock(request.keys);
  const auto present = read_small_file(request.keys);
  if (!present.ok()) return Status(Code::failed, present.status().message);
  std::string keys = *present;
  const auto statement = trusted_tag(folder, request.tag, request.today, &keys);
  if (keys != *present) {
    Status s = write_whole_file(request.keys, keys);
    if (!s.ok()) return Status(Code::failed, s.message);
  }
  if (!statement.ok()) {
    const bool is_bad_file = statement.status().code == Code::bad_argument;
    return is_bad_file ? Status(Code::failed, request.keys + ": " + statement.status().message)
                       : statement.status();
  }
  return descriptor_of(folder, statement->manifest);
}

Result<OciManifest> choose_manifest(const OciFolder &folder, const FetchRequest &request) {
  OciDescriptor descriptor;
  if (!request.keys.empty()) {
    if (Status s = find_signed(folder, request).move_to(&descriptor); !s.ok()) return s;
  } else if (const OciDescriptor *named = folder.index().find(request.tag); named != nullptr) {
    descriptor = *named;
  } else {
    return Status(Code::not_in_pack, fmt::format("the layout has no tag {}", request.tag));
  }
  auto manifest = folder.manifest(descriptor);
  if (!manifest.ok()) return manifest;
  if (manifest->artifact_type != kArtifactType) {
    return Status(Code::not_in_pack, fmt::format("the tag {} is of no Kiln pack", request.tag));
  }
  const std::uint64_t revision = manifest->revision().value_or(0);
  if (revision >= request.smallest_revision) return manifest;
  return Status(Code::conflict,
                fmt::format("the tag {} is of revision {}, which is older than the demanded {}",
                            request.tag, revision, request.smallest_revision));
}

// Checks the digest of the layer with the programs, and opens it.
Result<std::shared_ptr<const packs::Pack>> open_programs(const OciFolder &folder,
                                                         const OciManifest &manifest) {
  const auto programs =
      std::find_if(manifest.layers.begin(), manifest.layers.end(),
                   [](const OciDescriptor &layer) { return layer.media_type == kProgramsType; });
  if (programs == manifest.layers.end()) {
    return Status(Code::root_malformed, "the manifest has no layer with programs");
  }
  if (Status s = folder.check_blob(*programs); !s.ok()) return s;
  std::shared_ptr<const packs::Pack> pack;
  Status s = packs::Pack::open_file(folder.blob_path(programs->digest).c_str(), &pack);
  return s.ok() ? Result(std::move(pack)) : Result<std::shared_ptr<const packs::Pack>>(s);
}

// Checks every part of the pack and its signatures.
Status check_demand(const std::string &path, const packs::Demand &demand) {
  std::shared_ptr<const packs::Pack> pack;
  std::vector<packs::Signature> signatures, found;
  Status s = packs::Pack::open_file(path.c_str(), &pack);
  if (s.ok()) s = packs::check_names(*pack);
  if (s.ok()) s = packs::read_signatures(*pack, &signatures);
  if (!s.ok()) return s;
  return packs::find_trusted(pack->superblock(), packs::root_name(*pack), signatures, demand,
                             &found);
}

}  // namespace

Result<Artifact> publish_pack(const packs::Contents &contents, OciFolder *folder,
                              const PublishRequest &request) {
  return Publisher(contents, folder, request).publish();
}

Result<const OciDescriptor *> choose_layer(const OciManifest &manifest, const std::string &word) {
  std::vector<const OciDescriptor *> targets, found;
  const OciDescriptor *any = nullptr;
  for (const OciDescriptor &layer : manifest.layers) {
    if (layer.media_type != kDeltaType) continue;
    const std::string key = annotation_of(layer, "vnd.kiln.key");
    if (key.empty()) {
      any = &layer;
      continue;
    }
    targets.push_back(&layer);
    if (key == word || glob_match(word, layer_label(layer))) found.push_back(&layer);
  }
  const bool is_for_any = word.empty() || word == "any" || (found.empty() && is_key_hash(word));
  if (is_for_any && any != nullptr) found = {any};
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    return Status(Code::not_in_pack, fmt::format("no target matches \"{}\"; there are:{}", word,
                                                 list_layers(targets)));
  }
  return Status(Code::bad_argument,
                fmt::format("\"{}\" names several targets:{}", word, list_layers(found)));
}

std::string layer_label(const OciDescriptor &layer) {
  const std::string device = annotation_of(layer, "vnd.kiln.device");
  return fmt::format("{} (driver {})", device, annotation_of(layer, "vnd.kiln.driver"));
}

Result<Contents> published_contents(const OciFolder &folder, const std::string &tag,
                                    const std::string &work) {
  FetchRequest request;
  request.tag = tag;
  const auto manifest = choose_manifest(folder, request);
  if (!manifest.ok()) return manifest.status();
  const auto programs = open_programs(folder, *manifest);
  if (!programs.ok()) return programs.status();
  Contents merged;
  std::size_t number = 0;
  for (const OciDescriptor &layer : manifest->layers) {
    if (layer.media_type != kDeltaType) continue;
    if (Status s = folder.check_blob(layer); !s.ok()) return s;
    const std::string path = fmt::format("{}/old-{}.kiln", work, number++);
    packs::DeltaFacts facts;
    Status s = packs::apply_delta(**programs, folder.blob_path(layer.digest), path, &facts);
    std::shared_ptr<const packs::Pack> pack;
    if (s.ok()) s = packs::Pack::open_file(path.c_str(), &pack);
    Contents slice;
    if (s.ok()) s = packs::read_contents(pack, &slice);
    if (s.ok()) s = packs::merge(slice, &merged);
    if (!s.ok()) return s;
  }
  return merged;
}

Result<Fetched> fetch_pack(const OciFolder &folder, const FetchRequest &request,
                           const std::string &output) {
  const auto manifest = choose_manifest(folder, request);
  if (!manifest.ok()) return manifest.status();
  const auto delta = choose_layer(*manifest, request.target);
  if (!delta.ok()) return delta.status();
  const auto programs = open_programs(folder, *manifest);
  if (!programs.ok()) return programs.status();
  if (Status s = folder.check_blob(**delta); !s.ok()) return s;
  const bool is_demanded = !request.demand.keys.empty();
  const std::string made = is_demanded ? output + ".unchecked" : output;
  packs::DeltaFacts facts;
  Status s = packs::apply_delta(**programs, folder.blob_path((*delta)->digest), made, &facts);
  if (!s.ok()) return s;
  if (is_demanded) {
    s = check_demand(made, request.demand);
    if (s.ok() && std::rename(made.c_str(), output.c_str()) != 0) {
      s = {Code::failed, output + ": it cannot be replaced"};
    }
    if (!s.ok()) {
      (void)std::remove(made.c_str());
      return s;
    }
  }
  const bool is_target = !annotation_of(**delta, "vnd.kiln.key").empty();
  Fetched fetched{manifest->revision().value_or(0), is_target ? layer_label(**delta) : "programs",
                  facts.new_size, packs::hex(facts.new_name)};
  fetched.fell_back = !is_target && !request.target.empty() && request.target != "any";
  return fetched;
}

}  // namespace kiln::builder

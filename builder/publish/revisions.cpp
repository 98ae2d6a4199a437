// SPDX-License-Identifier: Apache-2.0
// Removes the index entries first: what is killed then leaves blobs that nothing needs, and the
// next removal takes them.
#include "builder/publish/revisions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "builder/publish/publish.hpp"

namespace kiln::builder {
namespace {

void add_layers(const OciManifest &manifest, Revision *revision) {
  for (const OciDescriptor &layer : manifest.layers) {
    revision->size += layer.size;
    const std::string key = annotation_of(layer, "vnd.kiln.key");
    if (layer.media_type != kDeltaType || key.empty()) continue;
    revision->targets.push_back({key, layer_label(layer), layer.size});
  }
}

Status check_removal(const Listing &listing, const std::string &name) {
  const auto &all = listing.revisions;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Revision &revision) {
    return fmt::format("r{}", revision.revision) == name;
  });
  if (found == all.end()) return {Code::not_in_pack, "the layout has no revision " + name};
  if (found->revision == all.back().revision) {
    return {Code::bad_argument, name + " is the highest revision: the next one is counted from it"};
  }
  for (const std::string &tag : found->tags) {
    if (tag != name) return {Code::bad_argument, fmt::format("{} has the tag {}", name, tag)};
  }
  for (const TagStatement &statement : listing.signed_tags) {
    if (statement.manifest == found->digest) {
      return {Code::bad_argument, fmt::format("{} is signed as {}", name, statement.tag)};
    }
  }
  return {};
}

}  // namespace

Result<Listing> list_revisions(const OciFolder &folder) {
  Listing listing;
  for (const OciDescriptor &descriptor : folder.index().manifests()) {
    const std::string tag = tag_of(descriptor);
    const auto revision = revision_of(descriptor.annotations);
    if (descriptor.media_type == kManifestType && !revision && is_reserved_tag(tag)) {
      const auto texts = read_signed_texts(folder, tag);
      if (!texts.ok()) return texts.status();
      if (texts->empty()) continue;
      const std::string &text = texts->back().text;
      Status s = tag == kKeysTag
                     ? read_keys_statement(text).move_to(&listing.keys.emplace())
                     : read_tag_statement(text).move_to(&listing.signed_tags.emplace_back());
      if (!s.ok()) return s;
    }
    if (descriptor.media_type != kManifestType || !revision) continue;
    auto known = std::find_if(listing.revisions.begin(), listing.revisions.end(),
                              [&](const Revision &r) { return r.digest == descriptor.digest; });
    if (known == listing.revisions.end()) {
      const auto manifest = folder.manifest(descriptor);
      if (!manifest.ok()) return manifest.status();
      Revision made{*revision, descriptor.digest, {}, {}, 0, {}};
      add_layers(*manifest, &made);
      known = listing.revisions.insert(listing.revisions.end(), std::move(made));
    }
    known->tags.push_back(tag);
    const std::string created = annotation_of(descriptor, kCreatedAnnotation);
    if (!created.empty()) known->created = created;
  }
  std::sort(listing.revisions.begin(), listing.revisions.end(),
            [](const Revision &a, const Revision &b) { return a.revision < b.revision; });
  return listing;
}

Result<OciFolder::Removed> remove_revisions(OciFolder *folder,
                                            const std::vector<std::string> &revisions) {
  const auto listing = list_revisions(*folder);
  if (!listing.ok()) return listing.status();
  for (const std::string &name : revisions) {
    if (Status s = check_removal(*listing, name); !s.ok()) return s;
  }
  for (const std::string &name : revisions) folder->index().remove(name);
  if (Status s = folder->commit(); !s.ok()) return s;
  return folder->remove_unneeded_blobs();
}

}  // namespace kiln::builder

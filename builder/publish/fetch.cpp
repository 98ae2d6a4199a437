// SPDX-License-Identifier: Apache-2.0
// Picks a layer by its annotations and applies it to the programs.
#include "builder/publish/fetch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "builder/base/glob.hpp"
#include "builder/inspect/printable.hpp"
#include "kiln/packs/delta.hpp"

namespace kiln::builder {
namespace {

std::string annotation_of(const OciDescriptor &layer, const char *name) {
  const auto at = layer.annotations.find(name);
  return at == layer.annotations.end() ? std::string() : at->second;
}

std::string layer_label(const OciDescriptor &layer) {
  const std::string device = annotation_of(layer, "vnd.kiln.device");
  return fmt::format("{} (driver {})", device, annotation_of(layer, "vnd.kiln.driver"));
}

std::string list_layers(const std::vector<const OciDescriptor *> &layers) {
  std::string text;
  for (const OciDescriptor *layer : layers) {
    text += "\n  " + printable_line(fmt::format(
                         "{}  {}, profile {}", annotation_of(*layer, "vnd.kiln.key"),
                         layer_label(*layer), annotation_of(*layer, "vnd.kiln.profile")));
  }
  return text;
}

// The delta for that target, or of the programs for any device.
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
  if (word.empty() && any != nullptr) found = {any};
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    return Status(Code::not_in_pack, fmt::format("no target matches \"{}\"; there are:{}", word,
                                                 list_layers(targets)));
  }
  return Status(Code::bad_argument,
                fmt::format("\"{}\" names several targets:{}", word, list_layers(found)));
}

Result<OciManifest> choose_manifest(const OciFolder &folder, const FetchRequest &request) {
  const OciDescriptor *const named = folder.index().find(request.tag);
  if (named == nullptr) {
    return Status(Code::not_in_pack, fmt::format("the layout has no tag {}", request.tag));
  }
  auto manifest = folder.manifest(*named);
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

}  // namespace

Result<Fetched> fetch_pack(const OciFolder &folder, const FetchRequest &request,
                           const std::string &output) {
  const auto manifest = choose_manifest(folder, request);
  if (!manifest.ok()) return manifest.status();
  const auto delta = choose_layer(*manifest, request.target);
  if (!delta.ok()) return delta.status();
  const auto programs =
      std::find_if(manifest->layers.begin(), manifest->layers.end(),
                   [](const OciDescriptor &layer) { return layer.media_type == kProgramsType; });
  if (programs == manifest->layers.end()) {
    return Status(Code::root_malformed, "the manifest has no layer with programs");
  }
  if (Status s = folder.check_blob(*programs); !s.ok()) return s;
  const std::string base = folder.blob_path(programs->digest);
  std::shared_ptr<const packs::Pack> pack;
  if (Status s = packs::Pack::open_file(base.c_str(), &pack); !s.ok()) return s;
  if (Status s = folder.check_blob(**delta); !s.ok()) return s;
  packs::DeltaFacts facts;
  Status s = packs::apply_delta(*pack, folder.blob_path((*delta)->digest), output, &facts);
  if (!s.ok()) return s;
  const std::string label = request.target.empty() ? "programs" : layer_label(**delta);
  return Fetched{manifest->revision().value_or(0), label, facts.new_size,
                 packs::hex(facts.new_name)};
}

}  // namespace kiln::builder

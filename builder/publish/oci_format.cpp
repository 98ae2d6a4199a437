// SPDX-License-Identifier: Apache-2.0
// Reads and writes the JSON of an OCI image layout; checks JSON of other programs member by member.
#include "builder/publish/oci_format.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace kiln::builder {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 32;  // limited because writing JSON recurses
constexpr std::size_t kMaxDescriptors = 1u << 16;

Status oci_fault(const std::string &what) { return {Code::root_malformed, what}; }

Result<json> parse_oci(const std::string &text) {
  if (text.size() > kMaxOciText) return Status(Code::over_limit, "it is over 4 MiB");
  bool too_deep = false;
  const json::parser_callback_t shallow = [&](int depth, json::parse_event_t, json &) {
    too_deep = too_deep || depth > kMaxDepth;
    return depth <= kMaxDepth;
  };
  json value = json::parse(text, shallow, false);
  if (too_deep) return oci_fault("its JSON is nested too deep");
  if (value.is_discarded()) return oci_fault("it is not JSON");
  if (!value.is_object()) return oci_fault("it is not a JSON object");
  const auto version = value.find("schemaVersion");
  if (version == value.end() || !version->is_number_integer() || *version != 2) {
    return oci_fault("its schemaVersion is not 2");
  }
  return value;
}

Status read_text(const json &from, const char *name, std::string *out) {
  const auto at = from.find(name);
  if (at == from.end()) return {};
  if (!at->is_string()) return oci_fault(fmt::format("{} is not a text", name));
  *out = at->get<std::string>();
  return {};
}

Status read_annotations(const json &from, Annotations *out) {
  const auto at = from.find("annotations");
  if (at == from.end() || at->is_null()) return {};
  if (!at->is_object()) return oci_fault("annotations is not an object");
  for (const auto &[name, value] : at->items()) {
    if (!value.is_string()) return oci_fault(fmt::format("annotation {} is not a text", name));
    (*out)[name] = value.get<std::string>();
  }
  return {};
}

Status read_descriptor(const json &from, OciDescriptor *out) {
  if (!from.is_object()) return oci_fault("a descriptor is not an object");
  if (Status s = read_text(from, "mediaType", &out->media_type); !s.ok()) return s;
  if (Status s = read_text(from, "digest", &out->digest); !s.ok()) return s;
  if (!is_digest(out->digest)) {
    return oci_fault("a descriptor's digest is not \"sha256:\" and 64 hexadecimal digits");
  }
  const auto size = from.find("size");
  if (size == from.end() || !size->is_number_unsigned()) {
    return oci_fault("a descriptor's size is not a number");
  }
  out->size = size->get<std::uint64_t>();
  return read_annotations(from, &out->annotations);
}

Status read_descriptors(const json &from, const char *name, std::vector<OciDescriptor> *out) {
  const auto at = from.find(name);
  if (at == from.end() || !at->is_array()) return oci_fault(fmt::format("{} is not a list", name));
  if (at->size() > kMaxDescriptors) {
    return Status(Code::over_limit, fmt::format("{} has over 65,536 entries", name));
  }
  for (const json &each : *at) {
    out->emplace_back();
    if (Status s = read_descriptor(each, &out->back()); !s.ok()) return s;
  }
  return {};
}

json descriptor_json(const OciDescriptor &descriptor) {
  json out{{"mediaType", descriptor.media_type},
           {"digest", descriptor.digest},
           {"size", descriptor.size}};
  if (!descriptor.annotations.empty()) out["annotations"] = descriptor.annotations;
  return out;
}

std::string as_text(const json &value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string annotation_of(const OciDescriptor &descriptor, const char *name) {
  const auto at = descriptor.annotations.find(name);
  return at == descriptor.annotations.end() ? std::string() : at->second;
}

std::string tag_of(const OciDescriptor &manifest) {
  return annotation_of(manifest, kTagAnnotation);
}

std::optional<std::uint64_t> revision_of(const Annotations &annotations) {
  const auto at = annotations.find(kRevisionAnnotation);
  if (at == annotations.end()) return std::nullopt;
  const std::string &text = at->second;
  if (text.empty() || text.size() > 18 || text[0] == '0' ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::stoull(text);
}

std::optional<std::uint64_t> OciManifest::revision() const { return revision_of(annotations); }

OciIndex::OciIndex()
    : json_{{"schemaVersion", 2}, {"mediaType", kIndexType}, {"manifests", json::array()}} {}

Result<OciIndex> OciIndex::read(const std::string &text) {
  auto parsed = parse_oci(text);
  if (!parsed.ok()) return parsed.status();
  OciIndex index;
  index.json_ = std::move(*parsed);
  Status status = read_descriptors(index.json_, "manifests", &index.manifests_);
  if (!status.ok()) return status;
  std::map<std::string, int> tags;
  for (const OciDescriptor &manifest : index.manifests_) {
    const std::string tag = tag_of(manifest);
    if (!tag.empty() && ++tags[tag] > 1) {
      return oci_fault(fmt::format("two manifests have the tag {}", tag));
    }
  }
  return index;
}

const OciDescriptor *OciIndex::find(const std::string &tag) const {
  const auto at = std::find_if(manifests_.begin(), manifests_.end(),
                               [&](const OciDescriptor &m) { return tag_of(m) == tag; });
  return at == manifests_.end() ? nullptr : &*at;
}

void OciIndex::set(const std::string &tag, const OciDescriptor &manifest) {
  OciDescriptor tagged = manifest;
  tagged.annotations[kTagAnnotation] = tag;
  json &list = json_["manifests"];
  const OciDescriptor *const before = find(tag);
  if (before == nullptr) {
    list.push_back(descriptor_json(tagged));
    manifests_.push_back(std::move(tagged));
    return;
  }
  const auto at = static_cast<std::size_t>(before - manifests_.data());
  list[at] = descriptor_json(tagged);
  manifests_[at] = std::move(tagged);
}

void OciIndex::remove(const std::string &tag) {
  const OciDescriptor *const found = find(tag);
  if (found == nullptr) return;
  const auto at = found - manifests_.data();
  json_["manifests"].erase(static_cast<std::size_t>(at));
  manifests_.erase(manifests_.begin() + at);
}

std::string OciIndex::text() const { return as_text(json_); }

Result<OciManifest> read_manifest_json(const std::string &text) {
  auto parsed = parse_oci(text);
  if (!parsed.ok()) return parsed.status();
  OciManifest manifest;
  if (Status s = read_text(*parsed, "artifactType", &manifest.artifact_type); !s.ok()) return s;
  const auto config = parsed->find("config");
  if (config == parsed->end()) return oci_fault("it has no config");
  if (Status s = read_descriptor(*config, &manifest.config); !s.ok()) return s;
  if (Status s = read_descriptors(*parsed, "layers", &manifest.layers); !s.ok()) return s;
  if (Status s = read_annotations(*parsed, &manifest.annotations); !s.ok()) return s;
  return manifest;
}

std::string manifest_json(const OciManifest &manifest) {
  json layers = json::array();
  for (const OciDescriptor &layer : manifest.layers) layers.push_back(descriptor_json(layer));
  return as_text({{"schemaVersion", 2},
                  {"mediaType", kManifestType},
                  {"artifactType", manifest.artifact_type},
                  {"config", descriptor_json(manifest.config)},
                  {"layers", layers},
                  {"annotations", manifest.annotations}});
}

bool is_digest(const std::string &text) {
  constexpr const char *kPrefix = "sha256:";
  return text.size() == 71 && text.starts_with(kPrefix) &&
         text.find_first_not_of("0123456789abcdef", 7) == std::string::npos;
}

bool is_tag(const std::string &word) {
  const auto letter = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c));
  };
  return !word.empty() && word.size() <= 128 && letter(word[0]) &&
         std::all_of(word.begin(), word.end(),
                     [&](char c) { return letter(c) || c == '.' || c == '-'; });
}

}  // namespace kiln::builder

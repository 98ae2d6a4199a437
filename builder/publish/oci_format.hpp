// SPDX-License-Identifier: Apache-2.0
// The JSON of an OCI image layout as values: index, manifest and descriptors. The functions are
// pure; the words come from the OCI image specification.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "builder/base/builder_status.hpp"

namespace kiln::builder {

inline constexpr const char *kIndexType = "application/vnd.oci.image.index.v1+json";
inline constexpr const char *kManifestType = "application/vnd.oci.image.manifest.v1+json";
inline constexpr const char *kEmptyType = "application/vnd.oci.empty.v1+json";
inline constexpr const char *kArtifactType = "application/vnd.kiln.pack.v1";
inline constexpr const char *kProgramsType = "application/vnd.kiln.programs.v1";
inline constexpr const char *kDeltaType = "application/vnd.kiln.delta.v1";

inline constexpr const char *kSignedType = "application/vnd.kiln.signed.v1";
inline constexpr const char *kStatementType = "application/vnd.kiln.statement.v1";
inline constexpr const char *kSignatureType = "application/vnd.kiln.signature.v1";

inline constexpr const char *kTagAnnotation = "org.opencontainers.image.ref.name";
inline constexpr const char *kTitleAnnotation = "org.opencontainers.image.title";
inline constexpr const char *kCreatedAnnotation = "org.opencontainers.image.created";
inline constexpr const char *kRevisionAnnotation = "vnd.kiln.revision";

inline constexpr std::size_t kMaxOciText = std::size_t{4} << 20;  // bytes of an index or a manifest

using Annotations = std::map<std::string, std::string>;

// A reference to a blob.
struct OciDescriptor {
  std::string media_type;
  std::string digest;  // "sha256:" and 64 lower-case hexadecimal digits
  std::uint64_t size = 0;
  Annotations annotations{};
};

struct OciManifest {
  std::string artifact_type;
  OciDescriptor config;
  std::vector<OciDescriptor> layers;
  Annotations annotations{};

  // Returns the number in the annotation; nothing if there is no annotation, or if it is not a
  // number of 1 to 18 digits without a leading zero.
  std::optional<std::uint64_t> revision() const;
};

// An index. Members that Kiln does not know stay as they are.
class OciIndex {
 public:
  OciIndex();
  // Reads an index. Fails with Code::root_malformed, as read_manifest_json() does; the message has
  // no file name.
  static Result<OciIndex> read(const std::string &text);

  const std::vector<OciDescriptor> &manifests() const { return manifests_; }
  // Returns the manifest with that tag; null if there is none.
  const OciDescriptor *find(const std::string &tag) const;
  // Gives the tag to this manifest, and takes it from any other manifest.
  void set(const std::string &tag, const OciDescriptor &manifest);
  // Takes the tag, and with it this entry, out of the index.
  void remove(const std::string &tag);
  std::string text() const;

 private:
  nlohmann::json json_;
  std::vector<OciDescriptor> manifests_;  // the manifests in json_, in the same order
};

Result<OciManifest> read_manifest_json(const std::string &text);
std::string manifest_json(const OciManifest &manifest);

// Returns the revision in the annotations, as a number.
std::optional<std::uint64_t> revision_of(const Annotations &annotations);

bool is_digest(const std::string &text);

// Return an annotation's value; empty if there is none.
std::string annotation_of(const OciDescriptor &descriptor, const char *name);
std::string tag_of(const OciDescriptor &manifest);

// Whether registries accept the word as a tag: a letter, digit or underscore, then up to 127
// letters, digits, underscores, dots and hyphens.
bool is_tag(const std::string &word);

}  // namespace kiln::builder

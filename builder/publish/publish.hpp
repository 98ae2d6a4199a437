// SPDX-License-Identifier: Apache-2.0
// Packs in an OCI image layout: publishing them, and fetching the pack for one device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "builder/publish/minisign.hpp"
#include "builder/publish/oci_folder.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/signing.hpp"

namespace kiln::builder {

struct PublishRequest {
  std::string tag = "latest";
  // The default is one more than the highest revision in the layout, or 1.
  std::optional<std::uint64_t> revision{};
  // Each signs all packs that devices will get.
  std::vector<Signer> signers{};
  std::string today{};  // the date that the index notes for a new revision; empty: none
};

struct ArtifactLayer {
  OciDescriptor blob;
  std::string label;  // "programs", or the label of the target
};

struct Artifact {
  std::uint64_t revision = 0;
  std::string digest;  // of the manifest
  std::vector<ArtifactLayer> layers;
};

// Returns "device (driver version)" of a delta's annotations.
std::string layer_label(const OciDescriptor &layer);

// Adds the pack to the layout as one manifest with two tags: the tag in the request, which is taken
// from any other manifest, and "r" with the revision. The same pack, revision and zstd give the
// same bytes. Fails with Code::bad_argument for an invalid tag or revision, and as OciFolder and
// make_delta() do.
Result<Artifact> publish_pack(const packs::Contents &contents, OciFolder *folder,
                              const PublishRequest &request);

// Puts the contents of a published revision together again, from files that are made in the folder
// `work` and are needed as long as the contents. Fails as fetch_pack() does.
Result<packs::Contents> published_contents(const OciFolder &folder, const std::string &tag,
                                           const std::string &work);

struct FetchRequest {
  std::string tag = "latest";
  // The 16 digits of the hash of a binary key, or a glob over "device (driver version)"; empty or
  // "any": only the programs. A device whose key has no target gets the programs, too.
  std::string target{};
  std::uint64_t smallest_revision = 0;
  // The device's file of keys, which later keys of the layout replace; the tag must then be signed.
  // Empty: the tag is believed.
  std::string keys{};
  std::string today{};  // with `keys`
  // Signatures that the pack itself must have; none without keys.
  packs::Demand demand{};
};

// Returns the delta for FetchRequest::target. Fails with Code::not_in_pack if no target matches,
// and with Code::bad_argument if several do.
Result<const OciDescriptor *> choose_layer(const OciManifest &manifest, const std::string &target);

struct Fetched {
  std::uint64_t revision = 0;  // 0: the manifest has no revision
  std::string label;           // of the target, or "programs"
  std::uint64_t size = 0;      // of the pack
  std::string blake2b;         // of the pack, in hexadecimal digits
  bool fell_back = false;      // the layout has no target with the key
};

// Writes the pack to `output`, which appears only when the pack is right. Checks the digest of
// every blob that it uses. Fails with Code::not_in_pack if no target or tag matches, with
// Code::conflict if the revision is older than required, with Code::blob_corrupt if a blob does not
// match its digest, with Code::untrusted for missing signatures and outdated statements, and as
// OciFolder and apply_delta() do.
Result<Fetched> fetch_pack(const OciFolder &folder, const FetchRequest &request,
                           const std::string &output);

}  // namespace kiln::builder

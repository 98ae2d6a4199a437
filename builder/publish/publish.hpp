// SPDX-License-Identifier: Apache-2.0
// A pack as an OCI artifact: a layer with its programs, and for each target a delta that makes of
// this layer the pack of that target alone; one more makes a pack of the programs alone. So a
// device fetches two blobs by their digests.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "builder/publish/oci_folder.hpp"
#include "kiln/packs/contents.hpp"
#include "kiln/packs/signing.hpp"

namespace kiln::builder {

struct PublishRequest {
  std::string tag = "latest";
  // One more than the highest that the layout has, or 1, if it is not given.
  std::optional<std::uint64_t> revision{};
  // Signs the statements of all packs that devices will have, in one call, so that a password is
  // asked for once. If it is empty, the packs are not signed.
  std::function<Result<std::vector<packs::Detached>>(const std::vector<std::string> &statements,
                                                     std::uint64_t revision)>
      sign{};
};

struct ArtifactLayer {
  OciDescriptor blob;
  std::string label;  // "programs", or the target's
};

struct Artifact {
  std::uint64_t revision = 0;
  std::string digest;  // of the manifest
  std::vector<ArtifactLayer> layers;
};

// Adds the pack to the layout as one manifest with two tags: that of the request, which another
// manifest loses, and "r" with the revision. The same pack, revision and zstd give the same bytes.
// Fails with Code::bad_argument for a tag or revision that cannot be, and as OciFolder and
// make_delta() do.
Result<Artifact> publish_pack(const packs::Contents &contents, OciFolder *folder,
                              const PublishRequest &request);

}  // namespace kiln::builder

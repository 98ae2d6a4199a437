// SPDX-License-Identifier: Apache-2.0
// Publishes a pack in a folder, in parts that a device fetches one by one: the programs, and for
// each kind of device a delta that adds its binaries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "builder/fleet/delivery/published_folder.hpp"
#include "builder/sign/minisign.hpp"
#include "kiln/packs/contents.hpp"

namespace kiln::builder {

struct PublishRequest {
  // The default is one more than the folder's, or 1.
  std::optional<std::uint64_t> revision{};
  std::string today{};
  std::string expires{};
  // Each signs the index, and all packs that devices will get.
  std::vector<Signer> signers{};
  std::vector<std::string> keys{};  // PublishedIndex::keys
};

// Replaces what the folder has by this pack as the next revision. Files of the previous revision
// stay until the revision after this one, for devices that are fetching them. The same contents and
// request give the same bytes. Fails with Code::bad_argument for a revision that is not later than
// the folder's, unless it has the same contents, and for dates that are not in the future.
Result<PublishedIndex> publish_pack(const packs::Contents &contents, FolderWriter *writer,
                                    const PublishRequest &request);

// Reads the index that the folder has. Fails as PublishedFolder does.
Result<PublishedIndex> published_index(const PublishedFolder &folder);

// Puts what the folder has together again, from files that are made in the folder `work` and are
// needed as long as the contents.
Result<packs::Contents> published_contents(const PublishedFolder &folder, const std::string &work);

}  // namespace kiln::builder

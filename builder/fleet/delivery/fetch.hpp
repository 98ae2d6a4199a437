// SPDX-License-Identifier: Apache-2.0
// Fetches one device's pack from a published folder: from a folder here, from a web server by curl,
// or from a registry by skopeo.
#pragma once

#include <cstdint>
#include <string>

#include "builder/fleet/delivery/published_folder.hpp"

namespace kiln::builder {

// Whether the word is a URL: http://, https:// or docker://.
bool is_url(const std::string &word);

struct FetchRequest {
  std::string from;  // URL or folder
  // Folder where what a URL gives is kept; the next fetch brings only what changed.
  std::string cache;
  std::string target;  // as in choose_pack()
  std::uint64_t smallest_revision = 0;
  // File of trusted keys: one of them must have signed the index. If the index names new keys, they
  // replace the file. Empty: signatures are not checked.
  std::string keys;
  std::string today;
};

struct Fetched {
  std::uint64_t revision = 0;
  PublishedPack pack;
  bool fell_back = false;  // there is no pack for the key that was asked for
};

// Writes the pack to `output`, which appears only when the pack is right. Fails with
// Code::not_in_pack if no pack matches, with Code::conflict if the revision is older than required,
// with Code::blob_corrupt for a file that does not have its digest, with Code::untrusted for a
// missing signature and outside the index's dates, with Code::no_device if curl or skopeo is not in
// PATH, and with Code::failed if it fails.
Result<Fetched> fetch_pack(const FetchRequest &request, const std::string &output);

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// The revisions in a layout: what they are, and how old ones go.
#pragma once

#include "builder/publish/signed_tags.hpp"

namespace kiln::builder {

struct Revision {
  struct Target {
    std::string key_hash;
    std::string label;
    std::uint64_t size = 0;  // of its delta
  };
  std::uint64_t revision = 0;
  std::string digest;             // of the manifest
  std::string created;            // date; empty: unknown
  std::vector<std::string> tags;  // in the order of the index
  std::uint64_t size = 0;         // of all layers, which other revisions may share
  std::vector<Target> targets;
};

struct Listing {
  std::vector<Revision> revisions;  // the oldest first
  std::vector<TagStatement> signed_tags;
  std::optional<KeysStatement> keys{};  // the newest
};

// Reads what the layout says; signatures are not checked.
Result<Listing> list_revisions(const OciFolder &folder);

// Takes revisions ("r7") out of the layout, and the blobs that nothing needs then, also those of
// commands that were killed. Fails with Code::bad_argument for the highest revision, from which the
// next one is counted, and for one that has another tag or a signed one.
Result<OciFolder::Removed> remove_revisions(OciFolder *folder,
                                            const std::vector<std::string> &revisions);

}  // namespace kiln::builder

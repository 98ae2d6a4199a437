// SPDX-License-Identifier: Apache-2.0
// Tags that move, and the signed statements in a layout: the tag "keys" has every version of the
// keys, and "TAG.signed" says which manifest TAG names. Both are manifests of small text layers,
// each statement followed by its signatures, so that registries carry them like packs.
#pragma once

#include <optional>

#include "builder/publish/minisign.hpp"
#include "builder/publish/oci_folder.hpp"
#include "builder/publish/statements.hpp"

namespace kiln::builder {

inline constexpr const char *kKeysTag = "keys";
std::string signed_tag(const std::string &tag);

// Whether the tag is one that Kiln gives itself: "keys", "TAG.signed", or "r" and a number.
bool is_reserved_tag(const std::string &tag);

// Reads the statements under a tag; none if the layout does not have the tag.
Result<std::vector<SignedText>> read_signed_texts(const OciFolder &folder, const std::string &tag);

// What a command signed.
struct SignedBy {
  std::size_t signers = 0;  // different keys that count
  std::uint64_t required = 0;
};

// Adds the next version of the keys, or signatures to the last version; `text` is the statement. A
// last version that lacks signatures is replaced by another one. Returns the signers of whichever
// threshold is not met: that of the version before, or its own. Fails with Code::bad_argument for
// another version, and with Code::untrusted if none of the signatures is by a key that counts. The
// threshold may be met later, by signatures of others.
Result<SignedBy> publish_keys(OciFolder *folder, const std::string &text,
                              const std::vector<Signer> &signers);

struct TagRequest {
  std::string from;  // tag of a revision in the layout
  std::string to;
  std::string expires{};          // with `signers`: a date
  std::vector<Signer> signers{};  // none: TAG.signed stays as it is
  std::string today{};
};

struct Tagged {
  std::uint64_t revision = 0;
  std::string digest;
  std::optional<SignedBy> signed_by{};
};

// Moves a tag to a revision that is not older than the tag's, and signs that. Adds signatures to an
// equal statement. Fails with Code::bad_argument and as publish_keys() does.
Result<Tagged> move_tag(OciFolder *folder, const TagRequest &request);

// Finds the manifest that a signed tag names for a device that has these keys, and sets `keys` to
// the newest of the layout. Fails with Code::untrusted; the message names the attack or fault.
Result<TagStatement> trusted_tag(const OciFolder &folder, const std::string &tag,
                                 const std::string &today, std::string *keys);

}  // namespace kiln::builder

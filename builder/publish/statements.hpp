// SPDX-License-Identifier: Apache-2.0
// The two texts that keys sign beside packs: which keys count from now on, and which manifest a tag
// names until when. Functions of values. Each line of a statement is a word, a space and a value:
//
//   kiln keys 1               kiln tag 1
//   version 2                 tag latest
//   expires 2028-01-01        revision 7
//   threshold 1               manifest sha256:...
//   key RWTNLFi7+q3X...       made 2027-01-01
//   key RWQWNu4o5QuM...       expires 2027-02-01
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/base/builder_status.hpp"
#include "kiln/packs/trust.hpp"

namespace kiln::builder {

// Dates are YYYY-MM-DD, by UTC, and compare as texts.
bool is_date(const std::string &text);
std::string today();

// The keys that count. What devices have is the text of such a statement.
struct KeysStatement {
  std::uint64_t version = 0;  // each statement has the one of its predecessor plus 1
  std::string expires;        // the first day on which nothing is believed any more
  std::uint64_t threshold = 0;
  std::vector<packs::PublicKey> keys;
};

// Fails with Code::bad_argument; the message tells the line that was expected.
Result<KeysStatement> read_keys_statement(const std::string &text);

struct TagStatement {
  std::string tag;
  std::uint64_t revision = 0;
  std::string manifest;  // digest
  std::string made;      // the day of the signature: a clock that is older is wrong
  std::string expires;   // the first day on which the statement is not believed any more
};

std::string text_of(const TagStatement &statement);
Result<TagStatement> read_tag_statement(const std::string &text);

// A statement with the detached signatures of minisign, each the text of its file.
struct SignedText {
  std::string text;
  std::vector<std::string> signatures;
};

// Returns the ids of the keys of which a signature fits the text, each once.
std::vector<packs::KeyId> signers_of(const SignedText &statement,
                                     const std::vector<packs::PublicKey> &keys);

// Checks that as many keys signed as the threshold demands. Fails with Code::untrusted; the message
// begins with `what`.
Status check_signers(const SignedText &statement, const KeysStatement &by, const std::string &what);

// Goes from the present keys through each later version in `chain`, which the threshold of its
// predecessor's keys and of its own must have signed; returns the last one's text. An older or
// empty chain changes nothing. Fails with Code::untrusted, as for a missing version.
Result<std::string> follow_keys(const std::string &present, const std::vector<SignedText> &chain);

// Fails with Code::untrusted from the day `expires` on; the message begins with `what`.
Status check_expiry(const std::string &expires, const std::string &today, const std::string &what);

}  // namespace kiln::builder

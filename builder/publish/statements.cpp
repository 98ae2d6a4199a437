// SPDX-License-Identifier: Apache-2.0
// Reads the statements strictly, since what is signed must have one meaning.
#include "builder/publish/statements.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include <fmt/format.h>

#include "builder/publish/oci_format.hpp"

namespace kiln::builder {
namespace {

constexpr std::size_t kMaxKeys = 64;

Status untrusted(const std::string &why) { return {Code::untrusted, why}; }

// Takes lines of a word, a space and a value off a text.
class Lines {
 public:
  explicit Lines(const std::string &text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  // Returns the value of the next line, which must begin with the word; otherwise fails.
  Result<std::string> take(const std::string &word) {
    const std::size_t end = rest_.find('\n');
    if (end == std::string::npos || !rest_.starts_with(word + " ")) {
      return Status(Code::bad_argument, fmt::format("expected a line \"{} ...\"", word));
    }
    const std::string value = rest_.substr(word.size() + 1, end - word.size() - 1);
    rest_.erase(0, end + 1);
    return value;
  }
  Status take_head(const std::string &kind) {
    const auto version = take("kiln " + kind);
    if (!version.ok()) return version.status();
    return *version == "1" ? Status() : Status(Code::bad_argument, "it is of a newer form");
  }
  Status take_number(const std::string &word, std::uint64_t *out) {
    const auto value = take(word);
    if (!value.ok()) return value.status();
    const auto number = revision_of({{kRevisionAnnotation, *value}});
    if (!number) return {Code::bad_argument, word + " is not a number of 1 to 18 digits"};
    *out = *number;
    return {};
  }
  Status take_date(const std::string &word, std::string *out) {
    Status s = take(word).move_to(out);
    if (s.ok() && !is_date(*out)) s = {Code::bad_argument, word + " is not a date YYYY-MM-DD"};
    return s;
  }

 private:
  std::string rest_;
};

bool are_equal(const packs::PublicKey &a, const packs::PublicKey &b) {
  return a.id == b.id || a.key == b.key;
}

Status read_keys(Lines *lines, KeysStatement *out) {
  if (Status s = lines->take_head("keys"); !s.ok()) return s;
  if (Status s = lines->take_number("version", &out->version); !s.ok()) return s;
  if (Status s = lines->take_date("expires", &out->expires); !s.ok()) return s;
  if (Status s = lines->take_number("threshold", &out->threshold); !s.ok()) return s;
  while (!lines->at_end() && out->keys.size() <= kMaxKeys) {
    const auto line = lines->take("key");
    if (!line.ok()) return line.status();
    packs::PublicKey key;
    if (Status s = packs::parse_public_key(*line, &key); !s.ok()) return s;
    const bool twice = std::any_of(out->keys.begin(), out->keys.end(),
                                   [&](const auto &known) { return are_equal(key, known); });
    if (twice)
      return {Code::bad_argument, "the key " + packs::key_text(key.id) + " is there twice"};
    out->keys.push_back(key);
  }
  if (out->keys.size() > kMaxKeys) return {Code::bad_argument, "it has over 64 keys"};
  if (out->threshold <= out->keys.size()) return {};
  return {Code::bad_argument, "the threshold is greater than the number of keys"};
}

Status read_tag(Lines *lines, TagStatement *out) {
  if (Status s = lines->take_head("tag"); !s.ok()) return s;
  if (Status s = lines->take("tag").move_to(&out->tag); !s.ok()) return s;
  if (Status s = lines->take_number("revision", &out->revision); !s.ok()) return s;
  if (Status s = lines->take("manifest").move_to(&out->manifest); !s.ok()) return s;
  if (Status s = lines->take_date("made", &out->made); !s.ok()) return s;
  if (Status s = lines->take_date("expires", &out->expires); !s.ok()) return s;
  if (!lines->at_end()) return {Code::bad_argument, "it has more lines than such a statement"};
  if (is_digest(out->manifest)) return {};
  return {Code::bad_argument, "manifest is not a digest"};
}

}  // namespace

bool is_date(const std::string &text) {
  if (text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool fits = i == 4 || i == 7 ? text[i] == '-' : text[i] >= '0' && text[i] <= '9';
    if (!fits) return false;
  }
  const std::string month = text.substr(5, 2);
  const std::string day = text.substr(8);
  return month >= "01" && month <= "12" && day >= "01" && day <= "31";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  std::array<char, 16> text{};
  if (gmtime_r(&now, &utc) == nullptr) return "0000-00-00";
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc);
  return text.data();
}

Result<KeysStatement> read_keys_statement(const std::string &text) {
  KeysStatement keys;
  Lines lines(text);
  if (Status s = read_keys(&lines, &keys); !s.ok()) {
    return Status(s.code, "not a statement of keys: " + s.message);
  }
  return keys;
}

std::string text_of(const TagStatement &statement) {
  return fmt::format("kiln tag 1\ntag {}\nrevision {}\nmanifest {}\nmade {}\nexpires {}\n",
                     statement.tag, statement.revision, statement.manifest, statement.made,
                     statement.expires);
}

Result<TagStatement> read_tag_statement(const std::string &text) {
  TagStatement statement;
  Lines lines(text);
  if (Status s = read_tag(&lines, &statement); !s.ok()) {
    return Status(s.code, "not a statement of a tag: " + s.message);
  }
  return statement;
}

std::vector<packs::KeyId> signers_of(const SignedText &statement,
                                     const std::vector<packs::PublicKey> &keys) {
  std::vector<packs::KeyId> signers;
  for (const packs::PublicKey &key : keys) {
    const bool signed_it = std::any_of(statement.signatures.begin(), statement.signatures.end(),
                                       [&](const std::string &text) {
                                         packs::Signature signature;
                                         return packs::parse_minisig(text, &signature).ok() &&
                                                packs::signs(key, statement.text, signature);
                                       });
    if (signed_it) signers.push_back(key.id);
  }
  return signers;
}

Status check_signers(const SignedText &statement, const KeysStatement &by,
                     const std::string &what) {
  const std::size_t found = signers_of(statement, by.keys).size();
  if (found >= by.threshold) return {};
  return untrusted(fmt::format("{} is signed by {} of the {} required keys of version {}", what,
                               found, by.threshold, by.version));
}

Result<std::string> follow_keys(const std::string &present, const std::vector<SignedText> &chain) {
  std::string text = present;
  auto keys = read_keys_statement(text);
  for (const SignedText &next : chain) {
    if (!keys.ok()) return keys.status();
    auto later = read_keys_statement(next.text);
    if (!later.ok()) return later.status();
    if (later->version <= keys->version) continue;
    const std::string what = fmt::format("version {} of the keys", later->version);
    if (later->version != keys->version + 1) {
      return untrusted(
          fmt::format("{} follows version {}: versions are missing", what, keys->version));
    }
    if (Status s = check_signers(next, *keys, what); !s.ok()) return s;
    if (Status s = check_signers(next, *later, what); !s.ok()) return s;
    text = next.text;
    keys = std::move(later);
  }
  return keys.ok() ? Result<std::string>(std::move(text)) : Result<std::string>(keys.status());
}

Status check_expiry(const std::string &expires, const std::string &today, const std::string &what) {
  if (today < expires) return {};
  return untrusted(
      fmt::format("{} expired on {}, and this clock says {}: the layout is outdated, "
                  "or the clock is wrong",
                  what, expires, today));
}

}  // namespace kiln::builder

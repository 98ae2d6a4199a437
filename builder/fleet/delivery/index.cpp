// SPDX-License-Identifier: Apache-2.0
// JSON follows from the members' names; what is read is checked, since it comes from anywhere.
#include "builder/fleet/delivery/index.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "builder/base/names.hpp"
#include "builder/inspect/printable.hpp"

namespace kiln::builder {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Blob, sha256, size)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PublishedPack, key_hash, profile, family, model, compiler,
                                   device, driver, delta, blake2b, size)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PublishedIndex, schema, revision, created, expires, keys,
                                   programs, packs)

namespace {

constexpr const char *kDate = "%Y-%m-%d";

std::string date_text(const std::tm &date) {
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), kDate, &date)};
}

bool is_sound(const PublishedIndex &index) {
  const auto is_blob = [](const Blob &blob) { return are_hex_digits(blob.sha256, 64); };
  return index.revision > 0 && index.revision <= kMaxRevision && is_date(index.created) &&
         (index.expires.empty() || is_date(index.expires)) && is_blob(index.programs) &&
         std::all_of(index.packs.begin(), index.packs.end(), [&](const PublishedPack &pack) {
           return is_blob(pack.delta) && are_hex_digits(pack.blake2b, 64) &&
                  (pack.key_hash.empty() || are_hex_digits(pack.key_hash, 16));
         });
}

std::string list_packs(const std::vector<PublishedPack> &packs) {
  std::string text;
  for (const PublishedPack &pack : packs) {
    if (pack.key_hash.empty()) continue;
    text += "\n  " + printable_line(fmt::format("{}  {}, profile {}", pack.key_hash, pack.label(),
                                                pack.profile));
  }
  return text;
}

bool is_signed_by(const std::string &text, const std::vector<std::string> &signatures,
                  const std::vector<packs::PublicKey> &keys) {
  return std::any_of(signatures.begin(), signatures.end(), [&](const std::string &minisig) {
    packs::Signature signature;
    return packs::parse_minisig(minisig, &signature).ok() &&
           std::any_of(keys.begin(), keys.end(), [&](const packs::PublicKey &key) {
             return packs::signs(key, text, signature);
           });
  });
}

std::string key_names(const std::vector<packs::PublicKey> &keys) {
  std::string names;
  for (const packs::PublicKey &key : keys) {
    names += (names.empty() ? "" : ", ") + packs::key_text(key.id);
  }
  return names;
}

Status untrusted(const std::string &why) { return {Code::untrusted, why}; }

}  // namespace

std::string PublishedPack::label() const {
  return key_hash.empty() ? "programs alone" : fmt::format("{} (driver {})", device, driver);
}

bool are_hex_digits(const std::string &text, std::size_t size) {
  return text.size() == size && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_date(const std::string &text) {
  std::tm date{};
  return strptime(text.c_str(), kDate, &date) != nullptr && date_text(date) == text;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm date{};
  gmtime_r(&now, &date);
  return date_text(date);
}

std::string index_json(const PublishedIndex &index) {
  return nlohmann::json(index).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<PublishedIndex> read_index_json(const std::string &text) {
  const Status malformed(Code::root_malformed, "not an index of schema 1");
  try {
    const auto index = nlohmann::json::parse(text).get<PublishedIndex>();
    return index.schema == 1 && is_sound(index) ? Result(index) : malformed;
  } catch (const nlohmann::json::exception &) {
    return malformed;
  }
}

Result<PublishedPack> choose_pack(const PublishedIndex &index, const std::string &word) {
  std::vector<PublishedPack> found, any;
  for (const PublishedPack &pack : index.packs) {
    if (pack.key_hash.empty()) {
      any = {pack};
    } else if (pack.key_hash == word || glob_match(word, pack.label())) {
      found.push_back(pack);
    }
  }
  const bool is_for_any =
      word.empty() || word == "any" || (found.empty() && are_hex_digits(word, 16));
  if (is_for_any) found = any;
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    return Status(Code::not_in_pack, fmt::format("no target matches \"{}\"; there are:{}", word,
                                                 list_packs(index.packs)));
  }
  return Status(Code::bad_argument,
                fmt::format("\"{}\" names several targets:{}", word, list_packs(found)));
}

Result<std::vector<packs::PublicKey>> read_trusted_keys(const std::string &text) {
  std::vector<packs::PublicKey> keys;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.starts_with("untrusted comment:")) continue;
    if (Status s = packs::parse_public_key(line, &keys.emplace_back()); !s.ok()) return s;
  }
  if (keys.empty()) return Status(Code::bad_argument, "it has no public key");
  return keys;
}

std::string trusted_keys_text(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines) text += line + "\n";
  return text;
}

Status check_index_signatures(const std::string &text, const std::vector<std::string> &signatures,
                              const std::vector<packs::PublicKey> &keys) {
  if (signatures.empty()) return untrusted("the index is not signed");
  if (!is_signed_by(text, signatures, keys)) {
    return untrusted("the index is not signed by a trusted key: " + key_names(keys));
  }
  const auto index = read_index_json(text);
  if (!index.ok()) return index.status();
  if (index->keys.empty()) return {};
  const auto next = read_trusted_keys(trusted_keys_text(index->keys));
  if (!next.ok()) return untrusted("the index names keys that cannot be read");
  if (is_signed_by(text, signatures, *next)) return {};
  return untrusted("the index is not signed by a key that it names: " + key_names(*next));
}

Status check_index_dates(const PublishedIndex &index, const std::string &today) {
  if (today < index.created) {
    return untrusted(
        fmt::format("revision {} was made on {}, and this clock says {}: the clock is wrong",
                    index.revision, index.created, today));
  }
  if (index.expires.empty() || today < index.expires) return {};
  return untrusted(
      fmt::format("revision {} expired on {}, and this clock says {}: what was published is "
                  "outdated, or the clock is wrong",
                  index.revision, index.expires, today));
}

}  // namespace kiln::builder

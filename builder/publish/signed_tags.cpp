// SPDX-License-Identifier: Apache-2.0
// Keeps statements as layers, since an OCI registry knows nothing else, and checks them as a device
// does before it adds to them.
#include "builder/publish/signed_tags.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kiln::builder {
namespace {

constexpr std::string_view kSignedEnd = ".signed";
constexpr std::size_t kMaxSignaturesRead = 64;  // of a statement, which has at most 64 keys

std::string text_of_key(const std::string &minisig) {
  packs::Signature signature;
  return packs::parse_minisig(minisig, &signature).ok() ? packs::key_text(signature.key)
                                                        : std::string();
}

Status add_text_layer(OciFolder *folder, const std::string &text, const char *type,
                      const std::string &title, OciManifest *manifest) {
  auto blob = folder->add_text(text, type);
  if (!blob.ok()) return blob.status();
  blob->annotations[kTitleAnnotation] = title;
  manifest->layers.push_back(*std::move(blob));
  return {};
}

// Replaces the statements under a tag. The caller commits.
Status set_signed_texts(OciFolder *folder, const std::string &tag,
                        const std::vector<SignedText> &statements) {
  const auto config = folder->add_text("{}", kEmptyType);
  if (!config.ok()) return config.status();
  OciManifest manifest{kSignedType, *config, {}, {}};
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const std::string title = tag == kKeysTag ? fmt::format("{}.{}", tag, i + 1) : tag;
    Status s = add_text_layer(folder, statements[i].text, kStatementType, title, &manifest);
    for (const std::string &signature : statements[i].signatures) {
      if (!s.ok()) return s;
      s = add_text_layer(folder, signature, kSignatureType,
                         fmt::format("{}.{}.minisig", title, text_of_key(signature)), &manifest);
    }
    if (!s.ok()) return s;
  }
  const auto blob = folder->add_text(manifest_json(manifest), kManifestType);
  if (!blob.ok()) return blob.status();
  folder->index().set(tag, *blob);
  return {};
}

// Signs the statement by each signer, whose signature must be by one of the keys. A key's new
// signature replaces its old one.
Status sign_text(const std::vector<Signer> &signers, const std::vector<packs::PublicKey> &keys,
                 const std::string &comment, SignedText *statement) {
  for (const Signer &sign : signers) {
    const auto made = sign({statement->text}, comment);
    if (!made.ok()) return made.status();
    const std::string signature = made->front().signature;
    const std::string id = text_of_key(signature);
    if (signers_of({statement->text, {signature}}, keys).empty()) {
      return {Code::untrusted, fmt::format("the key {} is none of the keys that count", id)};
    }
    auto &known = statement->signatures;
    const auto own = std::find_if(known.begin(), known.end(),
                                  [&](const std::string &old) { return text_of_key(old) == id; });
    own == known.end() ? known.push_back(signature) : void(*own = signature);
  }
  return {};
}

// Returns the newest keys, after checking that devices can reach them.
Result<KeysStatement> newest_keys(const std::vector<SignedText> &chain) {
  const std::string &first = chain.front().text;
  const auto keys = read_keys_statement(first);
  if (!keys.ok()) return keys.status();
  Status s = check_signers(chain.front(), *keys, "version 1 of the keys");
  if (!s.ok()) return s;
  const auto text = follow_keys(first, chain);
  return text.ok() ? read_keys_statement(*text) : Result<KeysStatement>(text.status());
}

Result<KeysStatement> present_keys(const OciFolder &folder) {
  const auto chain = read_signed_texts(folder, kKeysTag);
  if (!chain.ok()) return chain.status();
  if (!chain->empty()) return newest_keys(*chain);
  return Status(Code::not_in_pack, "the layout has no keys: add them with kiln pack keys");
}

Result<SignedBy> sign_tag(OciFolder *folder, const TagRequest &request, const Tagged &tagged) {
  const auto keys = present_keys(*folder);
  if (!keys.ok()) return keys.status();
  TagStatement statement{request.to, tagged.revision, tagged.digest, request.today,
                         request.expires};
  const std::string tag = signed_tag(request.to);
  const auto before = read_signed_texts(*folder, tag);
  if (!before.ok()) return before.status();
  SignedText next;
  if (!before->empty()) {
    const auto known = read_tag_statement(before->front().text);
    if (!known.ok()) return known.status();
    if (known->revision > statement.revision) {
      return Status(Code::bad_argument, fmt::format("revision {} is signed as {}, and devices "
                                                    "refuse an older one",
                                                    known->revision, request.to));
    }
    TagStatement as_before = statement;  // signed on another day by another person
    as_before.made = known->made;
    if (text_of(as_before) == before->front().text) {
      next = before->front();
      statement = as_before;
    }
  }
  next.text = text_of(statement);
  const std::string comment =
      fmt::format("kiln tag {}, revision {}", request.to, statement.revision);
  if (Status s = sign_text(request.signers, keys->keys, comment, &next); !s.ok()) return s;
  if (Status s = set_signed_texts(folder, tag, {next}); !s.ok()) return s;
  return SignedBy{signers_of(next, keys->keys).size(), keys->threshold};
}

Status check_move(const OciFolder &folder, const TagRequest &request, std::uint64_t revision) {
  if (!is_tag(request.to) || is_reserved_tag(request.to)) {
    return {Code::bad_argument, fmt::format("{} is not a tag that can be moved", request.to)};
  }
  const OciDescriptor *const before = folder.index().find(request.to);
  const std::uint64_t present =
      before == nullptr ? 0 : revision_of(before->annotations).value_or(0);
  if (present > revision) {
    return {Code::bad_argument,
            fmt::format("{} is of revision {}, and devices refuse an older one: publish the "
                        "contents of r{} as a new revision",
                        request.to, present, revision)};
  }
  if (request.signers.empty()) return {};
  if (!is_date(request.expires)) {
    return {Code::bad_argument, "a signature needs a date until which it counts, YYYY-MM-DD"};
  }
  return check_expiry(request.expires, request.today, "the new statement").ok()
             ? Status()
             : Status(Code::bad_argument, request.expires + " is not in the future");
}

}  // namespace

std::string signed_tag(const std::string &tag) { return tag + std::string(kSignedEnd); }

bool is_reserved_tag(const std::string &tag) {
  const bool as_revision = tag[0] == 'r' && tag.size() > 1 &&
                           tag.find_first_not_of("0123456789", 1) == std::string::npos;
  return as_revision || tag == kKeysTag || tag.ends_with(kSignedEnd);
}

Result<std::vector<SignedText>> read_signed_texts(const OciFolder &folder, const std::string &tag) {
  std::vector<SignedText> statements;
  const OciDescriptor *const named = folder.index().find(tag);
  if (named == nullptr) return statements;
  const auto manifest = folder.manifest(*named);
  if (!manifest.ok()) return manifest.status();
  for (const OciDescriptor &layer : manifest->layers) {
    const bool is_statement = layer.media_type == kStatementType;
    if (!is_statement && layer.media_type != kSignatureType) continue;
    auto text = folder.text(layer);
    if (!text.ok()) return text.status();
    if (is_statement) {
      statements.push_back({*std::move(text), {}});
    } else if (!statements.empty() && statements.back().signatures.size() < kMaxSignaturesRead) {
      statements.back().signatures.push_back(*std::move(text));
    }
  }
  return statements;
}

Result<SignedBy> publish_keys(OciFolder *folder, const std::string &text,
                              const std::vector<Signer> &signers) {
  const auto keys = read_keys_statement(text);
  if (!keys.ok()) return keys.status();
  auto chain = read_signed_texts(*folder, kKeysTag);
  if (!chain.ok()) return chain.status();
  if (chain->empty() || chain->back().text != text) {
    if (!chain->empty() && !newest_keys(*chain).ok()) chain->pop_back();  // no device took it yet
    if (keys->version != chain->size() + 1) {
      return Status(Code::bad_argument, fmt::format("version {} of the keys comes next, and this "
                                                    "is version {}",
                                                    chain->size() + 1, keys->version));
    }
    chain->push_back({text, {}});
  }
  KeysStatement old = *keys;  // version 1 has no predecessor
  if (chain->size() > 1) {
    Status s = read_keys_statement((*chain)[chain->size() - 2].text).move_to(&old);
    if (!s.ok()) return s;
  }
  SignedText &next = chain->back();
  std::vector<packs::PublicKey> counting = keys->keys;
  counting.insert(counting.end(), old.keys.begin(), old.keys.end());
  const std::string comment = fmt::format("kiln keys, version {}", keys->version);
  if (Status s = sign_text(signers, counting, comment, &next); !s.ok()) return s;
  if (Status s = set_signed_texts(folder, kKeysTag, *chain); !s.ok()) return s;
  if (Status s = folder->commit(); !s.ok()) return s;
  const SignedBy of_old{signers_of(next, old.keys).size(), old.threshold};
  return of_old.signers < of_old.required
             ? of_old
             : SignedBy{signers_of(next, keys->keys).size(), keys->threshold};
}

Result<Tagged> move_tag(OciFolder *folder, const TagRequest &request) {
  const OciDescriptor *const named = folder->index().find(request.from);
  if (named == nullptr) {
    return Status(Code::not_in_pack, fmt::format("the layout has no tag {}", request.from));
  }
  const auto manifest = folder->manifest(*named);
  if (!manifest.ok()) return manifest.status();
  if (manifest->artifact_type != kArtifactType) {
    return Status(Code::not_in_pack, fmt::format("the tag {} is of no Kiln pack", request.from));
  }
  Tagged tagged{manifest->revision().value_or(0), named->digest};
  if (Status s = check_move(*folder, request, tagged.revision); !s.ok()) return s;
  const OciDescriptor moved = *named;
  folder->index().set(request.to, moved);
  if (!request.signers.empty()) {
    const auto by = sign_tag(folder, request, tagged);
    if (!by.ok()) return by.status();
    tagged.signed_by = *by;
  }
  if (Status s = folder->commit(); !s.ok()) return s;
  return tagged;
}

Result<TagStatement> trusted_tag(const OciFolder &folder, const std::string &tag,
                                 const std::string &today, std::string *keys) {
  const auto chain = read_signed_texts(folder, kKeysTag);
  if (!chain.ok()) return chain.status();
  if (Status s = follow_keys(*keys, *chain).move_to(keys); !s.ok()) return s;
  const auto counting = read_keys_statement(*keys);
  if (!counting.ok()) return counting.status();
  const std::string version = fmt::format("version {} of the keys", counting->version);
  if (Status s = check_expiry(counting->expires, today, version); !s.ok()) return s;
  const auto found = read_signed_texts(folder, signed_tag(tag));
  if (!found.ok()) return found.status();
  const std::string what = "the tag " + tag;
  if (found->empty()) return Status(Code::untrusted, what + " is not signed");
  if (Status s = check_signers(found->front(), *counting, what); !s.ok()) return s;
  auto statement = read_tag_statement(found->front().text);
  if (!statement.ok()) return statement;
  if (statement->tag != tag) {
    return Status(Code::untrusted,
                  fmt::format("{} has the statement of the tag {}", what, statement->tag));
  }
  if (today < statement->made) {
    return Status(Code::untrusted,
                  fmt::format("{} was signed on {}, and this clock says {}: the clock is wrong",
                              what, statement->made, today));
  }
  if (Status s = check_expiry(statement->expires, today, what); !s.ok()) return s;
  return statement;
}

}  // namespace kiln::builder

// SPDX-License-Identifier: Apache-2.0
// Statements of keys and tags, and the attacks that they answer.
#include "builder/publish/signed_tags.hpp"

#include "builder/base/whole_file.hpp"
#include "builder/publish/public_keys.hpp"
#include "builder/publish/publish.hpp"
#include "builder/publish/revisions.hpp"
#include "tests/packs/signing_keys.hpp"

using namespace kiln;
using namespace kiln::builder;
using namespace kiln::test;

namespace {

constexpr char kSignerLine[] = "RWTNLFi7+q3XhguKPICBIH+YokJUDA2xU9FKwNnr+Xlq0/EEtYoRqZHm";

std::string keys_text(int version, int threshold, const std::vector<std::string> &lines,
                      const std::string &expires = "2030-01-01") {
  std::string text = "kiln keys 1\nversion " + std::to_string(version) + "\nexpires " + expires +
                     "\nthreshold " + std::to_string(threshold) + "\n";
  for (const std::string &line : lines) text += "key " + line + "\n";
  return text;
}

Signer signer_of(const char *key) {
  return [key](const std::vector<std::string> &texts, const std::string &) {
    std::vector<packs::Detached> made;
    for (const std::string &text : texts) made.push_back(detached_by(key, text));
    return Result(std::move(made));
  };
}

SignedText signed_by_keys(const std::string &text, const std::vector<const char *> &keys) {
  SignedText made{text, {}};
  for (const char *key : keys) made.signatures.push_back(detached_by(key, text).signature);
  return made;
}

// A layout with one revision whose tag "latest" is signed on 2026-06-01 until 2026-07-01.
struct Delivery {
  TemporaryFolder folder;
  std::string layout = (folder.path() / "layout").string();
  std::string keys_file = (folder.path() / "keys").string();
  std::string out = (folder.path() / "out.kiln").string();

  Delivery() {
    const std::string keys = keys_text(1, 1, {kSignerLine});
    REQUIRE(write_whole_file(keys_file, keys).ok());
    OciFolder open = opened_layout();
    REQUIRE(publish_pack(sample(), &open, {}).ok());
    REQUIRE(publish_keys(&open, keys, {signer_of(kSignerKey)}).ok());
    REQUIRE(sign(&open, "r1", "latest").ok());
  }
  OciFolder opened_layout() const { return *OciFolder::open_to_add(layout, {}); }
  static Status sign(OciFolder *open, const std::string &from, const std::string &to) {
    return move_tag(open, {from, to, "2026-07-01", {signer_of(kSignerKey)}, "2026-06-01"}).status();
  }
  Status fetch(const std::string &today, std::uint64_t smallest = 0,
               const std::string &tag = "latest") const {
    FetchRequest request;
    request.tag = tag;
    request.smallest_revision = smallest;
    request.keys = keys_file;
    request.today = today;
    return fetch_pack(*OciFolder::open(layout), request, out).status();
  }
  std::string refusal(const std::string &today, std::uint64_t smallest = 0,
                      const std::string &tag = "latest") const {
    const Status status = fetch(today, smallest, tag);
    CHECK(!std::filesystem::exists(out));
    return status.message;
  }
};

}  // namespace

TEST_CASE("a statement of keys is read strictly", "[keys]") {
  const std::string other = public_line(kOtherKey);
  const auto keys = read_keys_statement(keys_text(3, 2, {kSignerLine, other}));
  REQUIRE(keys.ok());
  CHECK(keys->version == 3);
  CHECK(keys->threshold == 2);
  CHECK(keys->expires == "2030-01-01");
  CHECK(packs::key_text(keys->keys.at(0).id) == kSignerId);
  CHECK(packs::key_text(keys->keys.at(1).id) == kOtherId);
  const auto fault = [](const std::string &text) {
    const auto read = read_keys_statement(text);
    return read.ok() ? std::string() : read.status().message;
  };
  const std::string begin = "not a statement of keys: ";
  CHECK(fault("") == begin + "expected a line \"kiln keys ...\"");
  CHECK(fault("kiln keys 2\n") == begin + "it is of a newer form");
  CHECK(fault("kiln tag 1\n") == begin + "expected a line \"kiln keys ...\"");
  CHECK(fault(keys_text(0, 1, {kSignerLine})) ==
        begin + "version is not a number of 1 to 18 digits");
  CHECK(fault(keys_text(1, 1, {kSignerLine}, "2030-13-01")) ==
        begin + "expires is not a date YYYY-MM-DD");
  CHECK(fault(keys_text(1, 2, {kSignerLine})) ==
        begin + "the threshold is greater than the number of keys");
  CHECK(fault(keys_text(1, 2, {kSignerLine, kSignerLine})) ==
        begin + "the key 86D7ADFABB582CCD is there twice");
  CHECK(fault(keys_text(1, 1, std::vector<std::string>(65, "RWQ"))) ==
        begin + "not a public key of minisign's form: its line is not 42 bytes in base64");
  CHECK(fault(keys_text(1, 1, {kSignerLine}) + "more\n") == begin + "expected a line \"key ...\"");
}

TEST_CASE("a changed byte of a statement is found, or not signed", "[keys]") {
  const std::string text = keys_text(1, 1, {kSignerLine});
  const KeysStatement keys = *read_keys_statement(text);
  SignedText changed = signed_by_keys(text, {kSignerKey});
  CHECK(signers_of(changed, keys.keys).size() == 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    changed.text = text;
    changed.text[i] = static_cast<char>(text[i] ^ 1);
    CHECK(signers_of(changed, keys.keys).empty());
  }
  // The same signature twice is one signer.
  CHECK(signers_of(signed_by_keys(text, {kSignerKey, kSignerKey}), keys.keys).size() == 1);
}

TEST_CASE("a device follows the keys version by version", "[keys]") {
  const std::string other = public_line(kOtherKey);
  const std::string first = keys_text(1, 1, {kSignerLine});
  const std::string second = keys_text(2, 1, {other});
  const std::string third = keys_text(3, 1, {other}, "2031-01-01");
  const SignedText rotation = signed_by_keys(second, {kSignerKey, kOtherKey});
  const SignedText renewal = signed_by_keys(third, {kOtherKey});
  CHECK(*follow_keys(first, {}) == first);
  CHECK(*follow_keys(first, {signed_by_keys(first, {kSignerKey}), rotation, renewal}) == third);
  CHECK(*follow_keys(third, {rotation}) == third);
  const auto fault = [&](const std::vector<SignedText> &chain) {
    const auto followed = follow_keys(first, chain);
    return followed.ok() ? std::string() : followed.status().message;
  };
  CHECK(fault({renewal}) == "version 3 of the keys follows version 1: versions are missing");
  CHECK(fault({signed_by_keys(second, {kOtherKey})}) ==
        "version 2 of the keys is signed by 0 of the 1 required keys of version 1");
  // Nobody locks devices out by keys that nobody has.
  CHECK(fault({signed_by_keys(second, {kSignerKey})}) ==
        "version 2 of the keys is signed by 0 of the 1 required keys of version 2");
}

TEST_CASE("a signed tag is believed between its dates", "[keys]") {
  const Delivery delivery;
  CHECK(delivery.refusal("2026-07-01") ==
        "the tag latest expired on 2026-07-01, and this clock says 2026-07-01: the layout is "
        "outdated, or the clock is wrong");
  CHECK(delivery.refusal("1970-01-01") ==
        "the tag latest was signed on 2026-06-01, and this clock says 1970-01-01: the clock is "
        "wrong");
  CHECK(delivery.refusal("2030-01-01") ==
        "version 1 of the keys expired on 2030-01-01, and this clock says 2030-01-01: the layout "
        "is outdated, or the clock is wrong");
  CHECK(delivery.fetch("2026-06-01").ok());
  CHECK(delivery.fetch("2026-06-30").ok());
}

TEST_CASE("an older signed tag, another one and another manifest are refused", "[keys]") {
  const Delivery delivery;
  CHECK(delivery.refusal("2026-06-02", 2) ==
        "the tag latest is of revision 1, which is older than the demanded 2");
  CHECK(delivery.refusal("2026-06-02", 0, "canary") == "the tag canary is not signed");
  OciFolder open = delivery.opened_layout();
  const OciDescriptor statement = *open.index().find("latest.signed");
  open.index().set("canary.signed", statement);
  REQUIRE(open.commit().ok());
  CHECK(delivery.refusal("2026-06-02", 0, "canary") ==
        "the tag canary has the statement of the tag latest");
  // The tag itself does not count, and the manifest of the statement must be there.
  REQUIRE(publish_pack(launch_sample(), &open, {}).ok());
  CHECK(delivery.fetch("2026-06-02").ok());
  std::filesystem::remove(delivery.out);
  const std::string signed_manifest = open.index().find("r1")->digest;
  open.index().remove("r1");
  REQUIRE(open.commit().ok());
  CHECK(delivery.refusal("2026-06-02") ==
        "the layout lacks the signed manifest " + signed_manifest);
}

TEST_CASE("a revoked key signs nothing more, even if the fetch fails", "[keys]") {
  const Delivery delivery;
  const std::string other = public_line(kOtherKey);
  const std::string next = keys_text(2, 1, {other});
  OciFolder open = delivery.opened_layout();
  const auto by = publish_keys(&open, next, {signer_of(kSignerKey), signer_of(kOtherKey)});
  REQUIRE(by.ok());
  CHECK(by->signers == 1);
  CHECK(delivery.refusal("2026-06-02") ==
        "the tag latest is signed by 0 of the 1 required keys of version 2");
  CHECK(*read_small_file(delivery.keys_file) == next);
  CHECK(Delivery::sign(&open, "r1", "latest").message ==
        "the key 86D7ADFABB582CCD is none of the keys that count");
  TagRequest request{"r1", "latest", "2026-07-01", {signer_of(kOtherKey)}, "2026-06-01"};
  REQUIRE(move_tag(&open, request).ok());
  CHECK(delivery.fetch("2026-06-02").ok());
}

TEST_CASE("removing a revision keeps every blob that another needs", "[keys]") {
  const Delivery delivery;
  OciFolder open = delivery.opened_layout();
  const auto files = [&] {
    std::size_t number = 0;
    for (const auto &entry : std::filesystem::directory_iterator(delivery.layout + "/blobs/sha256"))
      number += entry.is_regular_file() ? 1 : 0;
    return number;
  };
  REQUIRE(publish_pack(launch_sample(), &open, {}).ok());
  CHECK(remove_revisions(&open, {"r1"}).status().message == "r1 is signed as latest");
  REQUIRE(Delivery::sign(&open, "r2", "latest").ok());
  write_file(delivery.layout + "/blobs/sha256/" + std::string(64, 'a'), bytes_of("left by a kill"));
  const std::size_t before = files();
  const auto removed = remove_revisions(&open, {"r1"});
  REQUIRE(removed.ok());
  CHECK(removed->blobs == before - files());
  CHECK(removed->blobs >= 3);  // the stray one, the manifest, at least a delta
  CHECK(delivery.fetch("2026-06-02", 2).ok());
  CHECK(remove_revisions(&open, {"r2"}).status().message ==
        "r2 is the highest revision: the next one is counted from it");
  // Of other manifests it is not known which blobs they need.
  REQUIRE(publish_pack(sample(), &open, {}).ok());
  OciDescriptor foreign = *open.index().find("r3");
  foreign.media_type = kIndexType;
  foreign.annotations.clear();
  open.index().set("foreign", foreign);
  const std::size_t kept = files();
  CHECK(remove_revisions(&open, {}).status().code == Code::bad_argument);
  CHECK(files() == kept);
}

// SPDX-License-Identifier: Apache-2.0
// Packs into published folders and from there; tests/cli/registry_test.py has servers.
#include <filesystem>
#include <map>

#include <sys/stat.h>

#include "builder/fleet/delivery/fetch.hpp"
#include "builder/fleet/delivery/publish.hpp"
#include "tests/packs/signing_keys.hpp"

using namespace kiln;
using namespace kiln::builder;
using namespace kiln::test;

namespace {

namespace fs = std::filesystem;

Result<PublishedIndex> publish_to(const std::string &folder, const Contents &contents,
                                  PublishRequest request = {}) {
  if (request.today.empty()) request.today = "2026-11-29";
  auto writer = FolderWriter::open(folder, {});
  if (!writer.ok()) return writer.status();
  return publish_pack(contents, &*writer, request);
}

Result<Fetched> fetch(const std::string &folder, const std::string &out,
                      const std::string &target = "A100*", std::uint64_t smallest = 0) {
  FetchRequest request;
  request.from = folder;
  request.target = target;
  request.smallest_revision = smallest;
  return fetch_pack(request, out);
}

std::map<std::string, Bytes> files_of(const fs::path &folder) {
  std::map<std::string, Bytes> files;
  for (const auto &entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[entry.path().filename()] = read_file(entry.path());
  }
  return files;
}

// Every member has a value of its own.
PublishedIndex sample_index() {
  PublishedPack any;
  any.delta = {std::string(64, 'b'), 2};
  any.blake2b = std::string(64, 'c');
  any.size = 3;
  const PublishedPack mine{"0123456789abcdef",   "profile", "family", "model",
                           "compiler",           "A100",    "driver", {std::string(64, 'd'), 4},
                           std::string(64, 'e'), 5};
  return {1, 7, "2026-11-29", "2026-12-31", {"a line"}, {std::string(64, 'a'), 1}, {any, mine}};
}

}  // namespace

TEST_CASE("the same pack is published with the same bytes", "[delivery]") {
  const TemporaryFolder folder;
  const std::string a = folder.path() / "a", b = folder.path() / "b";
  REQUIRE(publish_to(a, sample()).ok());
  REQUIRE(publish_to(b, sample()).ok());
  CHECK(files_of(a) == files_of(b));
  // The config, the index, the programs, three deltas, manifest.json and version.
  CHECK(files_of(a).size() == 8);
}

TEST_CASE("two revisions are there at a time", "[delivery]") {
  const TemporaryFolder folder;
  const std::string published = folder.path() / "published";
  const auto first = publish_to(published, launch_sample());
  REQUIRE(first.ok());
  CHECK(first->revision == 1);
  const auto second = publish_to(published, sample());
  REQUIRE(second.ok());
  CHECK(second->revision == 2);
  CHECK(first->programs == second->programs);
  const PublishedFolder open(published);
  CHECK(open.check(first->packs[1].delta).ok());  // a device may be fetching it
  Contents other = sample();
  other.targets.pop_back();
  REQUIRE(publish_to(published, other).ok());
  CHECK(open.check(first->packs[1].delta).code == Code::not_found);
  CHECK(open.check(second->packs[2].delta).ok());
}

TEST_CASE("each pack and the index are signed, the packs in one call", "[delivery]") {
  const TemporaryFolder folder;
  const std::string published = folder.path() / "published";
  PublishRequest request;
  request.revision = 7;
  std::vector<std::string> comments;
  std::string index;
  request.signers = {[&](const std::vector<std::string> &texts, const std::string &comment) {
    comments.push_back(comment);
    CHECK(texts.size() == (comments.size() == 1 ? 3 : 1));
    index = texts[0];
    std::vector<packs::Detached> made;
    for (const std::string &text : texts) made.push_back(detached_by(kSignerKey, text));
    return made;
  }};
  REQUIRE(publish_to(published, sample(), request).ok());
  CHECK(comments == std::vector<std::string>{"kiln pack, revision 7", "kiln index, revision 7"});
  const std::string out = folder.path() / "out.kiln";
  for (const char *target : {"", "A100*", "B200*"}) {
    REQUIRE(fetch(published, out, target, 7).ok());
    CHECK(trust_in(read_file(out), 7).ok());
  }
  const std::string minisig = detached_by(kSignerKey, index).signature;
  CHECK(check_index_signatures(index, {"", minisig}, {signer()}).ok());
  CHECK(check_index_signatures(index, {}, {signer()}).code == Code::untrusted);
  CHECK(check_index_signatures(index + " ", {minisig}, {signer()}).code == Code::untrusted);
  request.revision.reset();
  request.signers = {[](const std::vector<std::string> &, const std::string &) {
    return Status(Code::failed, "no key");
  }};
  const auto before = files_of(published);
  CHECK(publish_to(published, sample(), request).status().message == "no key");
  CHECK(files_of(published).at("manifest.json") == before.at("manifest.json"));
  CHECK(!fs::exists(published + "/.kiln-publish"));
}

TEST_CASE("a part that is no file, or longer than the index says, is refused", "[delivery]") {
  const TemporaryFolder folder;
  const std::string published = folder.path() / "published", out = folder.path() / "out.kiln";
  const auto index = publish_to(published, sample());
  REQUIRE(index.ok());
  const std::string part = PublishedFolder(published).path_of(index->programs);
  fs::resize_file(part, std::uintmax_t{1} << 40);  // to read it would take an hour
  CHECK(fetch(published, out).status().message ==
        part + ": 1099511627776 bytes instead of " + std::to_string(index->programs.size));
  fs::remove(part);
  fs::create_symlink("/dev/zero", part);
  CHECK(fetch(published, out).status().message == part + ": not a regular file");
  fs::remove(part);
  REQUIRE(mkfifo(part.c_str(), 0600) == 0);
  CHECK(fetch(published, out).status().message == part + ": not a regular file");
  fs::remove(part);
  CHECK(fetch(published, out).status().code == Code::not_found);
  CHECK_FALSE(fs::exists(out));
}

TEST_CASE("any changed byte of a published file is found, or not read", "[delivery]") {
  const TemporaryFolder folder;
  const std::string published = folder.path() / "published", out = folder.path() / "out.kiln";
  REQUIRE(publish_to(published, launch_sample()).ok());
  REQUIRE(fetch(published, out).ok());
  const Bytes right = read_file(out);
  std::size_t found = 0;
  for (const auto &[name, bytes] : files_of(published)) {
    if (name.size() != 64) continue;
    for (std::size_t at = 0; at < bytes.size(); at += 97) {
      CAPTURE(name, at);
      Bytes changed = bytes;
      changed[at] ^= 1;
      write_file(published + "/" + name, changed);
      fs::remove(out);
      const Status status = fetch(published, out).status();
      if (status.ok()) {
        CHECK(read_file(out) == right);
      } else {
        CHECK(status.code == Code::blob_corrupt);
        CHECK(!fs::exists(out));
        ++found;
      }
    }
    write_file(published + "/" + name, bytes);
  }
  CHECK(found > 20);
}

TEST_CASE("an index is read back, and damage is named", "[delivery]") {
  const PublishedIndex index = sample_index();
  const std::string text = index_json(index);
  const auto again = read_index_json(text);
  REQUIRE(again.ok());
  CHECK(*again == index);
  const std::pair<std::string, std::string> damage[] = {
      {"\"schema\": 1", "\"schema\": 2"},
      {"\"revision\": 7", "\"revision\": 0"},
      {"\"revision\": 7", "\"revision\": 1000000000000000000"},
      {"\"revision\": 7", "\"revision\": \"7\""},
      {"2026-11-29", "2026-11-2x"},
      {"2026-12-31", "soon"},
      {std::string(64, 'a'), "../" + std::string(61, 'a')},
      {std::string(64, 'b'), std::string(63, 'b')},
      {std::string(64, 'c'), std::string(64, 'C')},
      {"0123456789abcdef", "0123456789abcdeg"},
      {"\"packs\"", "\"packets\""}};
  for (const auto &[from, to] : damage) {
    CAPTURE(to);
    std::string changed = text;
    REQUIRE(changed.find(from) != std::string::npos);
    changed.replace(changed.find(from), from.size(), to);
    CHECK(read_index_json(changed).status().code == Code::root_malformed);
  }
}

TEST_CASE("an index counts from its day until it expires", "[delivery]") {
  PublishedIndex index = sample_index();
  index.expires.clear();
  CHECK(check_index_dates(index, "2999-12-31").ok());
  index.expires = "2026-12-31";
  CHECK(check_index_dates(index, "2026-11-29").ok());
  CHECK(check_index_dates(index, "2026-12-30").ok());
  CHECK(check_index_dates(index, "2026-12-31").code == Code::untrusted);
  CHECK(check_index_dates(index, "2026-11-28").code == Code::untrusted);
  CHECK(is_date(today()));
  CHECK_FALSE(is_date("2026-1-01"));
  CHECK_FALSE(is_date("2026-13-01"));
}

TEST_CASE("a manifest is read back, and no digest names another file", "[delivery]") {
  PublishedManifest manifest;
  manifest.index = {std::string(64, 'a'), 1};
  manifest.signatures = {{std::string(64, 'b'), 2}};
  manifest.parts = {{std::string(64, 'c'), 3}, {std::string(64, 'd'), 4}};
  const std::string text = manifest_json(manifest);
  const auto again = read_manifest_json(text);
  REQUIRE(again.ok());
  CHECK(manifest_json(*again) == text);
  for (const std::string &name :
       {std::string("../") + std::string(61, 'd'), std::string(63, 'd')}) {
    std::string changed = text;
    changed.replace(changed.find(manifest.parts[1].sha256), 64, name);
    CHECK(read_manifest_json(changed).status().code == Code::root_malformed);
  }
}

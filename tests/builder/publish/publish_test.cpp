// SPDX-License-Identifier: Apache-2.0
// Packs into layouts and from there.
#include "builder/publish/publish.hpp"

#include <filesystem>
#include <set>

#include <sys/stat.h>

#include "kiln/packs/delta.hpp"
#include "tests/packs/signing_keys.hpp"

using namespace kiln;
using namespace kiln::builder;
using namespace kiln::test;

namespace {

packs::FolderLock::Waiting no_waiting() { return {}; }

Result<Artifact> publish_to(const std::string &folder, const Contents &contents,
                            const PublishRequest &request = {}) {
  auto layout = OciFolder::open_to_add(folder, no_waiting());
  if (!layout.ok()) return layout.status();
  return publish_pack(contents, &*layout, request);
}

std::map<std::string, Bytes> files_of(const std::filesystem::path &folder) {
  std::map<std::string, Bytes> files;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[std::filesystem::relative(entry.path(), folder).string()] = read_file(entry.path());
  }
  return files;
}

}  // namespace

TEST_CASE("the same pack is published with the same bytes", "[publish]") {
  const TemporaryFolder folder;
  const std::string a = (folder.path() / "a").string();
  const std::string b = (folder.path() / "b").string();
  REQUIRE(publish_to(a, sample()).ok());
  REQUIRE(publish_to(b, sample()).ok());
  CHECK(files_of(a) == files_of(b));
  CHECK(files_of(a).size() == 2 + 2 + 4);  // with config and manifest, four layers
}

TEST_CASE("a later revision shares the programs, and the earlier one stays", "[publish]") {
  const TemporaryFolder folder;
  const std::string layout = (folder.path() / "layout").string();
  const auto first = publish_to(layout, launch_sample());
  REQUIRE(first.ok());
  CHECK(first->revision == 1);
  const auto second = publish_to(layout, sample());
  REQUIRE(second.ok());
  CHECK(second->revision == 2);
  CHECK(first->layers[0].blob.digest == second->layers[0].blob.digest);
  CHECK(first->layers[2].blob.digest != second->layers[2].blob.digest);
  const auto open = OciFolder::open(layout);
  REQUIRE(open.ok());
  const std::string out = (folder.path() / "out.kiln").string();
  for (const std::uint64_t revision : {1u, 2u}) {
    FetchRequest request;
    request.tag = "r" + std::to_string(revision);
    request.target = "A100*";
    const auto fetched = fetch_pack(*open, request, out);
    INFO(fetched.status().message);
    REQUIRE(fetched.ok());
    CHECK(fetched->revision == revision);
    CHECK(fetched->blake2b ==
          packs::hex(
              packs::blake2b({read_file(out).data(), static_cast<std::size_t>(fetched->size)})));
    Contents expected = revision == 1 ? launch_sample() : sample();
    expected.targets.resize(1);
    const Contents found = contents_of(opened(read_file(out)));
    REQUIRE(found.targets.size() == 1);
    CHECK(found.targets[0].intermediates.size() == expected.targets[0].intermediates.size());
  }
}

TEST_CASE("each pack that a device fetches is signed, all of them in one call", "[publish]") {
  const TemporaryFolder folder;
  const std::string layout = (folder.path() / "layout").string();
  PublishRequest request;
  request.revision = 7;
  std::size_t calls = 0;
  request.signers = {[&](const std::vector<std::string> &statements, const std::string &comment) {
    ++calls;
    CHECK(statements.size() == 3);
    CHECK(comment == "kiln pack, revision 7");
    std::vector<packs::Detached> texts;
    for (const std::string &text : statements) texts.push_back(detached_by(kSignerKey, text));
    return texts;
  }};
  REQUIRE(publish_to(layout, sample(), request).ok());
  CHECK(calls == 1);
  const auto open = OciFolder::open(layout);
  REQUIRE(open.ok());
  const std::string out = (folder.path() / "out.kiln").string();
  for (const char *target : {"", "A100*", "B200*"}) {
    REQUIRE(fetch_pack(*open, {"r7", target, 7}, out).ok());
    CHECK(trust_in(read_file(out), 7).ok());
  }
  request.revision.reset();
  request.signers = {[](const std::vector<std::string> &, const std::string &) {
    return Status(Code::failed, "no key");
  }};
  const auto before = files_of(layout);
  const auto failed = publish_to(layout, sample(), request);
  CHECK(failed.status().message == "no key");
  CHECK(files_of(layout).at("index.json") == before.at("index.json"));
  CHECK(!std::filesystem::exists(layout + "/.kiln-publish"));
}

TEST_CASE("a blob that is no file, or longer than the layout says, is not read", "[publish]") {
  const TemporaryFolder folder;
  const std::string layout = (folder.path() / "layout").string();
  const auto published = publish_to(layout, sample());
  REQUIRE(published.ok());
  const auto open = OciFolder::open(layout);
  REQUIRE(open.ok());
  const std::string blob = open->blob_path(published->layers[0].blob.digest);
  const std::string out = (folder.path() / "out.kiln").string();
  const auto fetch = [&] { return fetch_pack(*open, {"latest", "A100*", 1}, out).status(); };
  std::filesystem::resize_file(blob, std::uintmax_t{1} << 40);  // it would take an hour
  CHECK(fetch().code == Code::blob_corrupt);
  CHECK(mentions(fetch().message, blob + ": it has 1099511627776 bytes, and the layout says "));
  std::filesystem::remove(blob);
  std::filesystem::create_symlink("/dev/zero", blob);
  CHECK(fetch().message == blob + ": not a regular file");
  std::filesystem::remove(blob);
  REQUIRE(mkfifo(blob.c_str(), 0600) == 0);
  CHECK(fetch().message == blob + ": not a regular file");
  std::filesystem::remove(blob);
  CHECK(fetch().code == Code::not_found);
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("any changed byte of a published file is found, or not read", "[publish]") {
  const TemporaryFolder folder;
  const std::string layout = (folder.path() / "layout").string();
  const auto published = publish_to(layout, launch_sample());
  REQUIRE(published.ok());
  const std::string out = (folder.path() / "out.kiln").string();
  const FetchRequest request{"latest", "A100*", 1};
  REQUIRE(fetch_pack(*OciFolder::open(layout), request, out).ok());
  const Bytes right = read_file(out);
  std::size_t found = 0;
  for (const auto &[name, bytes] : files_of(layout)) {
    if (name.find("blobs/") != 0) continue;
    for (std::size_t at = 0; at < bytes.size(); at += 97) {
      CAPTURE(name, at);
      Bytes changed = bytes;
      changed[at] ^= 1;
      write_file(layout + "/" + name, changed);
      std::filesystem::remove(out);
      const Status status = fetch_pack(*OciFolder::open(layout), request, out).status();
      if (status.ok()) {
        CHECK(read_file(out) == right);
      } else {
        CHECK(status.code == Code::blob_corrupt);
        CHECK(!std::filesystem::exists(out));
        ++found;
      }
    }
    write_file(layout + "/" + name, bytes);
  }
  CHECK(found > 20);
}

TEST_CASE("a layout that has a wrong blob is not added to", "[publish]") {
  const TemporaryFolder folder;
  const std::string layout = (folder.path() / "layout").string();
  const auto published = publish_to(layout, launch_sample());
  REQUIRE(published.ok());
  const std::string programs =
      layout + "/blobs/sha256/" + published->layers[0].blob.digest.substr(7);
  Bytes bytes = read_file(programs);
  const Bytes right = bytes;
  bytes[100] ^= 1;
  write_file(programs, bytes);
  CHECK(publish_to(layout, sample()).status().code == Code::blob_corrupt);
  write_file(programs, right);
  const std::string manifest = layout + "/blobs/sha256/" + published->digest.substr(7);
  write_file(manifest, bytes_of("{}"));
  const Status status = publish_to(layout, sample()).status();
  CHECK(status.code == Code::blob_corrupt);
  std::filesystem::remove(manifest);
  CHECK(publish_to(layout, sample()).status().code == Code::not_found);
}

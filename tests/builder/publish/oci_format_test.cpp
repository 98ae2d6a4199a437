// SPDX-License-Identifier: Apache-2.0
// The JSON of OCI image layouts: read, written and refused.
#include "builder/publish/oci_format.hpp"

#include <string>

#include "builder/publish/oci_folder.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::builder;

namespace {

const std::string kOciDigest = "sha256:" + std::string(64, 'a');

std::string index_with(const std::string &manifests) {
  return "{\"schemaVersion\": 2, \"manifests\": [" + manifests + "], \"other\": {\"kept\": [1]}}";
}

std::string oci_descriptor(const std::string &more) {
  return "{\"digest\": \"" + kOciDigest + "\", \"size\": 3" + more + "}";
}

}  // namespace

TEST_CASE("an index keeps what it does not know, and a tag has one manifest", "[publish]") {
  const std::string named =
      oci_descriptor(R"(, "platform": {"os": "linux"}, "annotations": {"x": "y"})");
  auto index = OciIndex::read(index_with(named));
  REQUIRE(index.ok());
  REQUIRE(index->manifests().size() == 1);
  CHECK(index->manifests()[0].size == 3);
  index->set("latest", {kManifestType, kOciDigest, 5});
  index->set("r1", {kManifestType, kOciDigest, 5});
  index->set("latest", {kManifestType, "sha256:" + std::string(64, 'b'), 6});
  const auto again = OciIndex::read(index->text());
  REQUIRE(again.ok());
  REQUIRE(again->manifests().size() == 3);
  REQUIRE(again->find("latest") != nullptr);
  CHECK(again->find("latest")->size == 6);
  CHECK(again->find("r1")->digest == kOciDigest);
  CHECK(again->find("r2") == nullptr);
  CHECK(again->text() == index->text());
  CHECK(again->text().find("\"kept\"") != std::string::npos);
  CHECK(again->text().find("\"linux\"") != std::string::npos);
}

TEST_CASE("a manifest is written and read", "[publish]") {
  OciManifest manifest{kArtifactType, {kEmptyType, sha256_of("{}").digest, 2}, {}, {}};
  manifest.layers.push_back({kDeltaType, kOciDigest, 7, {{"vnd.kiln.key", "0123"}}});
  manifest.annotations[kRevisionAnnotation] = "12";
  const auto read = read_manifest_json(manifest_json(manifest));
  REQUIRE(read.ok());
  CHECK(manifest_json(*read) == manifest_json(manifest));
  CHECK(read->revision() == 12);
  CHECK(read->config.digest ==
        "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
}

TEST_CASE("what is no index is refused by its fault", "[publish]") {
  const std::pair<std::string, std::string> faults[] = {
      {"", "it is not JSON"},
      {"[]", "it is not a JSON object"},
      {"{}", "its schemaVersion is not 2"},
      {R"({"schemaVersion": 1})", "its schemaVersion is not 2"},
      {R"({"schemaVersion": 2})", "manifests is not a list"},
      {R"({"schemaVersion": 2, "manifests": {}})", "manifests is not a list"},
      {index_with("7"), "a descriptor is not an object"},
      {index_with("{}"), "a descriptor's digest is not \"sha256:\" and 64 hexadecimal digits"},
      {index_with(R"({"digest": "sha256:../../x", "size": 1})"),
       "a descriptor's digest is not \"sha256:\" and 64 hexadecimal digits"},
      {index_with(R"({"digest": 7})"), "digest is not a text"},
      {index_with("{\"digest\": \"" + kOciDigest + "\", \"size\": -1}"),
       "a descriptor's size is not a number"},
      {index_with(oci_descriptor(", \"mediaType\": 1")), "mediaType is not a text"},
      {index_with(oci_descriptor(", \"annotations\": []")), "annotations is not an object"},
      {index_with(oci_descriptor(", \"annotations\": {\"a\": 1}")), "annotation a is not a text"},
      {index_with(oci_descriptor(R"(, "annotations": {"org.opencontainers.image.ref.name": "a"})") +
                  "," +
                  oci_descriptor(R"(, "annotations": {"org.opencontainers.image.ref.name": "a"})")),
       "two manifests have the tag a"},
      {std::string(100, '['), "its JSON is nested too deep"},
      {std::string((4u << 20) + 1, ' '), "it is over 4 MiB"}};
  for (const auto &[text, message] : faults) {
    const auto index = OciIndex::read(text);
    CAPTURE(text.substr(0, 100));
    REQUIRE(!index.ok());
    CHECK(index.status().message == message);
  }
  const auto manifest = read_manifest_json(index_with(""));
  REQUIRE(!manifest.ok());
  CHECK(manifest.status().message == "it has no config");
}

TEST_CASE("a revision is a number of 1 to 18 digits, and not 0", "[publish]") {
  for (const char *text : {"", "0", "01", "-1", "1.0", "x", "1000000000000000000"}) {
    CAPTURE(text);
    CHECK(!revision_of({{kRevisionAnnotation, text}}));
  }
  CHECK(!revision_of({}));
  CHECK(revision_of({{kRevisionAnnotation, "999999999999999999"}}) == 999999999999999999u);
}

TEST_CASE("tags are those that registries take", "[publish]") {
  for (const char *tag : {"latest", "r1", "_x", "1.0-rc.2"}) CHECK(is_tag(tag));
  for (const char *tag : {"", ".x", "-x", "a b", "a/b", "a:b", "\xc3\xa4"}) CHECK(!is_tag(tag));
  CHECK(is_tag(std::string(128, 'x')));
  CHECK(!is_tag(std::string(129, 'x')));
}

// SPDX-License-Identifier: Apache-2.0
// The reader as KILN_ZSTD=OFF builds it.
#include "kiln/packs/pack.hpp"

#include "tests/support/catch.hpp"

using namespace kiln::packs;

namespace {

constexpr char kRefused[] =
    "this is compressed, and Kiln was built without zstd: 'kiln pack slice --compress none' makes "
    "a "
    "pack that it reads";

std::shared_ptr<const Pack> opened(const std::string &name) {
  std::shared_ptr<const Pack> pack;
  const std::string path = std::string(KILN_SOURCE_DIR) + "/packs/golden/" + name;
  const Status status = Pack::open_file(path.c_str(), &pack);
  INFO(status.message);
  REQUIRE(status.ok());
  return pack;
}

}  // namespace

TEST_CASE("without zstd raw blobs are read, and others refused") {
  std::size_t read = 0, refused = 0;
  for (const char *name : {"good-v1-ready.kiln", "good-v1-bases.kiln"}) {
    const auto pack = opened(name);
    for (std::uint32_t number = 1; number <= pack->schema().blobs()->size(); ++number) {
      const BlobRef blob = pack->blob(number);
      Bytes scratch;
      View bytes;
      const Status status = pack->read_blob(blob, &scratch, &bytes);
      if (blob.codec() == Codec::raw) {
        CHECK(status.ok());
        ++read;
      } else {
        CHECK(status.code == Code::unknown_feature);
        CHECK(status.message.find(kRefused) != std::string::npos);  // "the blob's base: ..."
        ++refused;
      }
    }
  }
  CHECK(read != 0);
  CHECK(refused != 0);
}

TEST_CASE("without zstd a fleet's pack is refused as a whole") {
  std::shared_ptr<const Pack> pack;
  const std::string path = std::string(KILN_SOURCE_DIR) + "/packs/golden/good-v1-frames.kiln";
  const Status status = Pack::open_file(path.c_str(), &pack);
  CHECK(status.code == Code::unknown_feature);
  CHECK(status.message == path + ": " + kRefused);
}

// SPDX-License-Identifier: Apache-2.0
// Public keys in minisign's files, detached signatures, and what is believed.
#include "kiln/packs/signing.hpp"

#include "tests/packs/forge.hpp"
#include "tests/packs/signing_keys.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

Detached detached_at(const Pack &pack, std::uint64_t revision) {
  return detached_by(kSignerKey, statement(pack.superblock(), root_name(pack), revision));
}

}  // namespace

TEST_CASE("a public key is read in minisign's forms", "[signing]") {
  const std::string file = kSignerPublic;
  const std::string line = file.substr(file.find('\n') + 1, 56);
  for (const std::string &text :
       {file, line, line + "\n", "untrusted comment: of Windows\r\n" + line + "\r\n"}) {
    PublicKey key;
    REQUIRE(parse_public_key(text, &key).ok());
    CHECK(key_text(key.id) == kSignerId);
    CHECK(key.key == signer().key);
  }
}

TEST_CASE("what is no public key is refused with the reason", "[signing]") {
  PublicKey key;
  const auto fault = [&](const std::string &text) {
    const Status status = parse_public_key(text, &key);
    CHECK(status.code == Code::bad_argument);
    return status.message;
  };
  const std::string form = "not a public key of minisign's form: ";
  CHECK(fault("") == form + "its line is not 42 bytes in base64");
  CHECK(fault(kSignerKey) == form + "its line is not 42 bytes in base64");
  CHECK(fault("QUFB" + std::string(52, 'A')) == form + "another algorithm");
}

TEST_CASE("a revision only grows", "[signing]") {
  const Bytes pack = written(sample());
  std::vector<Signature> signatures{signature_by(kSignerKey, pack, 5)};
  REQUIRE(add_signature(signature_by(kOtherKey, pack, 3), &signatures).ok());  // another's
  REQUIRE(add_signature(signature_by(kSignerKey, pack, 5), &signatures).ok());
  REQUIRE(add_signature(signature_by(kSignerKey, pack, 7), &signatures).ok());
  const Status refused = add_signature(signature_by(kSignerKey, pack, 6), &signatures);
  CHECK(refused.code == Code::untrusted);
  CHECK(refused.message == std::string("the key ") + kSignerId +
                               " has signed revision 7 of this pack, and a revision only grows: "
                               "not 6");
  REQUIRE(signatures.size() == 2);
  CHECK(signatures[0].revision == 7);
  CHECK(signatures[1].revision == 3);
}

TEST_CASE("a detached signature is read for its pack alone", "[signing]") {
  const Bytes bytes = written(sample());
  const PackPointer pack = opened(bytes);
  const Detached texts = detached_at(*pack, 12);
  CHECK(mentions(texts.statement, "\nrevision 12\n"));
  Signature signature;
  REQUIRE(read_detached(*pack, texts, &signature).ok());
  CHECK(signature.revision == 12);
  CHECK(fits(signer(), pack->superblock(), root_name(*pack), signature));
  // Of the pack with signatures in it as well.
  const Bytes with = with_signatures(bytes, {signature_by(kOtherKey, bytes, 1)});
  CHECK(read_detached(*opened(with), texts, &signature).ok());
  REQUIRE(read_detached(*pack, detached_at(*pack, UINT64_MAX), &signature).ok());
  CHECK(signature.revision == UINT64_MAX);
  const Bytes others = written(bare_sample());
  const Status status = read_detached(*opened(others), texts, &signature);
  CHECK(status.code == Code::untrusted);
  CHECK(status.message == "the statement is of another pack");
}

TEST_CASE("a changed detached signature is a named fault or does not fit", "[signing]") {
  const PackPointer pack = opened(written(sample()));
  const Detached good = detached_at(*pack, 12);
  const auto believed = [&](const Detached &texts) {
    Signature signature;
    return read_detached(*pack, texts, &signature).ok() &&
           fits(signer(), pack->superblock(), root_name(*pack), signature);
  };
  CHECK(believed(good));
  for (std::size_t i = 0; i < good.statement.size(); ++i) {
    Detached bad = good;
    bad.statement[i] = static_cast<char>(bad.statement[i] ^ 1);
    CHECK_FALSE(believed(bad));
    bad.statement.resize(i);
    CHECK_FALSE(believed(bad));
  }
  const std::size_t line = good.signature.find('\n') + 1;
  for (std::size_t i = line; i < line + 99; ++i) {
    Detached bad = good;
    bad.signature[i] = bad.signature[i] == 'A' ? 'B' : 'A';
    CHECK((bad.signature == good.signature || !believed(bad)));
    bad.signature.resize(i);
    CHECK_FALSE(believed(bad));
  }
}

TEST_CASE("a pack whose parts do not have their names is not signed", "[signing]") {
  CHECK(check_names(*opened(written(sample()))).ok());
  Forge forge;
  const Bytes raw = noise(40, 1);
  fb::Blob blob = forge.raw_blob(raw);
  BlobValues values(blob);
  values.name = hash_of(name_of("other bytes"));
  ForgedRoot root;
  root.blobs = {values};
  CHECK(check_names(*opened(forge.finish(root))).code == Code::blob_corrupt);
}

TEST_CASE("a trusted pack is checked as it is read", "[signing]") {
  const Bytes plain = written(sample());
  const Bytes good = with_signatures(plain, {signature_by(kSignerKey, plain, 3)});
  PackPointer pack;
  CHECK(open_trusted(*opened(plain), {{signer()}, 0}, &pack).message == "the pack is not signed");
  CHECK(pack == nullptr);
  REQUIRE(open_trusted(*opened(good), {{signer()}, 3}, &pack).ok());
  CHECK(parts_of(*pack) == parts_of(*opened(good)));
  // A blob under another's name, in a pack that was signed so.
  Forge forge;
  BlobValues values(forge.raw_blob(noise(40, 1)));
  values.name = hash_of(name_of("other bytes"));
  ForgedRoot root;
  root.blobs = {values};
  const Bytes forged = forge.finish(root);
  const Bytes with = with_signatures(forged, {signature_by(kSignerKey, forged, 3)});
  REQUIRE(open_trusted(*opened(with), {{signer()}, 3}, &pack).ok());
  Bytes scratch;
  View view;
  const Status status = pack->read_blob(BlobRef(pack->schema().blobs()->Get(0)), &scratch, &view);
  CHECK(status.code == Code::blob_corrupt);
  CHECK(status.message == "blob: the bytes do not match the BLAKE2b hash that names them");
}

TEST_CASE("a threshold counts different keys that vouch for the revision", "[signing]") {
  const Bytes plain = written(sample());
  const auto judge = [&](const std::vector<Signature> &signatures, std::uint64_t threshold,
                         std::uint64_t revision, std::vector<Signature> *found) {
    Demand demand{{signer(), signer(), other_signer()}, revision, threshold};
    const PackPointer pack = opened(plain);
    return find_trusted(pack->superblock(), root_name(*pack), signatures, demand, found).message;
  };
  const Signature ours = signature_by(kSignerKey, plain, 5);
  const Signature others = signature_by(kOtherKey, plain, 3);
  std::vector<Signature> found;
  CHECK(judge({ours, others}, 2, 3, &found) == "");
  REQUIRE(found.size() == 2);
  CHECK(found[0].revision == 5);
  CHECK(found[1].revision == 3);
  CHECK(judge({others, ours}, 0, 5, &found) == "");
  CHECK(found.size() == 1);
  // One key alone vouches for 4 and 5.
  CHECK(judge({ours, others}, 2, 4, &found) ==
        "the pack is of revision 3, older than the required 4");
  CHECK(judge({ours}, 2, 0, &found) ==
        "the pack is signed by 1 of the 2 required keys: 86D7ADFABB582CCD");
  CHECK(judge({ours, others}, 3, 0, &found) ==
        "the pack is signed by 2 of the 3 required keys: 86D7ADFABB582CCD, CE8C0BE528EE3616");
  CHECK(mentions(judge({ours, others}, (std::uint64_t{1} << 32) + 1, 0, &found),
                 "by 2 of the 4294967297 required keys"));  // not 1, where a size has 32 bits
  Signature forged = others;
  forged.bytes[0] ^= 1;
  CHECK(mentions(judge({ours, forged}, 2, 0, &found), "CE8C0BE528EE3616 does not fit"));
}

// SPDX-License-Identifier: Apache-2.0
// Keys in minisign's files, and signatures made with them.
#include "kiln/packs/signing.hpp"

#include <sodium.h>
#include <sys/stat.h>

#include "kiln/packs/key_files.hpp"
#include "tests/packs/forge.hpp"
#include "tests/packs/signing_keys.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

struct TestKey : SecretKey {
  explicit TestKey(const char *text) { REQUIRE(parse_secret_key(text, "", this).ok()); }
};

std::string parse_fault(const std::string &text, const char *password = "") {
  SecretKey key;
  return parse_secret_key(text, password, &key).message;
}

// The line of a secret key's file as bytes, and back.
Bytes decoded(std::string_view file) {
  const std::string_view line = file.substr(file.find('\n') + 1);
  Bytes bytes(158);
  std::size_t size = 0;
  REQUIRE(sodium_base642bin(bytes.data(), bytes.size(), line.data(), line.size(), "\n", &size,
                            nullptr, sodium_base64_VARIANT_ORIGINAL) == 0);
  REQUIRE(size == bytes.size());
  return bytes;
}

std::string encoded(const Bytes &bytes) {
  std::string line(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(line.data(), line.size(), bytes.data(), bytes.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  line.back() = '\n';
  return "untrusted comment: a key\n" + line;
}

// The test key as minisign would encrypt it, with smaller limits.
std::string encrypted(const std::string &password) {
  const TestKey key(kSignerKey);
  Bytes bytes = decoded(secret_key_file(key)->view());
  bytes[2] = 'S';
  bytes[3] = 'c';
  bytes[6] = 1;      // the salt
  bytes[39] = 0x80;  // 32,768 operations
  bytes[48] = 0x10;  // 1 MiB
  Bytes stream(104);
  REQUIRE(crypto_pwhash_scryptsalsa208sha256(stream.data(), stream.size(), password.data(),
                                             password.size(), bytes.data() + 6, 32768,
                                             1u << 20) == 0);
  for (std::size_t i = 0; i < stream.size(); ++i) {
    bytes[54 + i] = static_cast<std::uint8_t>(bytes[54 + i] ^ stream[i]);
  }
  return encoded(bytes);
}

Detached detached_at(const Pack &pack, std::uint64_t revision) {
  return detached_by(kSignerKey, statement(pack.superblock(), root_name(pack), revision));
}

mode_t mode_of(const std::filesystem::path &path) {
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777;
}

}  // namespace

TEST_CASE("keys are read and written in minisign's forms", "[signing]") {
  const TestKey key(kSignerKey);
  CHECK(public_key_file(key.public_key()) == kSignerPublic);
  PublicKey again;
  CHECK(parse_public_key(public_key_line(key.public_key()), &again).ok());
  CHECK(again.key == key.public_key().key);
  CHECK(
      parse_public_key(
          "untrusted comment: of Windows\r\n" + public_key_line(key.public_key()) + "\r\n", &again)
          .ok());
  const auto file = secret_key_file(key);
  const TestKey same(std::string(file->view()).c_str());
  CHECK(same.public_key().key == key.public_key().key);
  CHECK(decoded(file->view()).size() == 158);
}

TEST_CASE("what is no key is refused with the reason", "[signing]") {
  PublicKey key;
  CHECK(parse_public_key("", &key).message ==
        "not a public key of minisign's form: its line is not 42 bytes in base64");
  CHECK(parse_public_key(kSignerKey, &key).code == Code::bad_argument);
  CHECK(parse_fault(kSignerPublic) ==
        "not a secret key of minisign's form: its line is not 158 bytes in base64");
  Bytes bytes = decoded(kSignerKey);
  const auto with = [&](std::size_t at, std::uint8_t value) {
    Bytes changed = bytes;
    changed[at] = value;
    return parse_fault(encoded(changed));
  };
  CHECK(mentions(with(0, 'X'), "another algorithm"));
  CHECK(mentions(with(2, 'X'), "derived by another algorithm"));
  CHECK(mentions(with(130, 1), "does not have its checksum"));
  // A public half that belongs to another secret one would give this one away.
  CHECK(mentions(with(100, 1), "halves do not belong together"));
  bytes = decoded(secret_key_file(TestKey(kSignerKey))->view());
  CHECK(mentions(with(54, 1), "does not have its checksum"));
}

TEST_CASE("an encrypted key needs its password", "[signing]") {
  const std::string file = encrypted("a password");
  CHECK(is_encrypted(file));
  CHECK_FALSE(is_encrypted(kSignerKey));
  SecretKey key;
  CHECK(parse_secret_key(file, "a password", &key).ok());
  CHECK(key.public_key().key == signer().key);
  CHECK(parse_fault(file, "another") == "the password is wrong for this secret key");
  Bytes bytes = decoded(file);
  bytes[45] = 1;  // of the operations
  CHECK(mentions(parse_fault(encoded(bytes), "a password"), "more than minisign's limits"));
}

TEST_CASE("files of keys are their owner's and are not overwritten", "[signing]") {
  const TemporaryFolder folder;
  const std::string name = folder.path() / "release";
  const TestKey key(kSignerKey);
  REQUIRE(write_key_files(key, name, false).ok());
  CHECK(mode_of(name + ".key") == 0600);
  CHECK(read_file(name + ".pub") == bytes_of(kSignerPublic));
  const TestKey other(kOtherKey);
  CHECK(mentions(write_key_files(other, name, false).message, "keys are not overwritten"));
  CHECK(read_file(name + ".pub") == bytes_of(kSignerPublic));
  std::filesystem::remove(name + ".pub");
  CHECK(mentions(write_key_files(other, name, false).message, "release.key is there"));
  CHECK_FALSE(std::filesystem::exists(name + ".pub"));
  std::unique_ptr<SecretText> text;
  REQUIRE(read_secret_file(name + ".key", &text).ok());
  CHECK(text->view() == secret_key_file(key)->view());
  REQUIRE(write_key_files(other, name, true).ok());
  CHECK(mode_of(name + ".key") == 0600);
  REQUIRE(read_secret_file(name + ".key", &text).ok());
  CHECK(text->view() == secret_key_file(other)->view());
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("a secret key that others may read is refused", "[signing]") {
  const TemporaryFolder folder;
  const std::string path = folder.write("k", kSignerKey);
  std::unique_ptr<SecretText> text;
  for (const mode_t mode : {0640, 0604, 0620, 0610}) {
    REQUIRE(chmod(path.c_str(), mode) == 0);
    CHECK(mentions(read_secret_file(path, &text).message, "chmod 600 " + path));
  }
  REQUIRE(chmod(path.c_str(), 0400) == 0);
  CHECK(read_secret_file(path, &text).ok());
  CHECK(mentions(read_secret_file(folder.path(), &text).message, "not a regular file"));
  CHECK(read_secret_file(path + "x", &text).code == Code::not_found);
  const std::string large = folder.write("large", std::string(5000, 'x'));
  REQUIRE(chmod(large.c_str(), 0600) == 0);
  CHECK(mentions(read_secret_file(large, &text).message, "too large"));
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
  const PackPointer other = opened(written(bare_sample()));
  const Status status = read_detached(*other, texts, &signature);
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
  CHECK(status.message == "blob: its bytes do not have the BLAKE2b hash that names it");
}

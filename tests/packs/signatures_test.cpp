// SPDX-License-Identifier: Apache-2.0
// The block behind the root, the statement, and what is believed of them.
#include "kiln/packs/signatures.hpp"

#include <random>

#include "kiln/packs/layout.hpp"
#include "tests/packs/forge.hpp"
#include "tests/packs/signing_keys.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

Bytes signed_sample() {
  const Bytes pack = written(sample());
  return with_signatures(pack,
                         {signature_by(kOtherKey, pack, 7), signature_by(kSignerKey, pack, 3)});
}

void rehash_block(Bytes *pack) {
  const std::size_t start = block_of(*pack);
  const std::uint64_t hash = xxh3(pack->data() + start, pack->size() - start - 8);
  for (unsigned i = 0; i < 8; ++i) {
    (*pack)[pack->size() - 8 + i] = static_cast<std::uint8_t>(hash >> (8 * i));
  }
}

// Of the same root, with another end.
void set_size(Bytes *pack, std::size_t size) {
  Superblock superblock = opened(*pack)->superblock();
  superblock.pack_size = size;
  pack->resize(size);
  encode_superblock(superblock, pack->data());
}

std::string signature_fault(const Bytes &pack) {
  std::vector<Signature> signatures;
  const Status status = read_signatures(*opened(pack), &signatures);
  CHECK((status.ok() || status.code == Code::signature_corrupt));
  return status.message;
}

}  // namespace

TEST_CASE("the statement is the text of FORMAT.md", "[signatures]") {
  Superblock superblock;
  Digest root{};
  root[0] = 0xab;
  CHECK(statement(superblock, root, 7) ==
        "kiln pack 1\nversion 1\nincompat 0\n"
        "root ab00000000000000000000000000000000000000000000000000000000000000\n"
        "revision 7\n");
}

TEST_CASE("signatures lie behind the root, exactly where FORMAT.md says", "[signatures]") {
  const Bytes plain = written(sample());
  const Bytes pack = signed_sample();
  const std::size_t start = block_of(pack);
  REQUIRE(pack.size() == start + 16 + 2 * 80 + 8);
  const Bytes header{0x89, 'K', 'L', 'S', 0x0d, 0x0a, 0x1a, 0x0a, 2, 0, 0, 0, 0, 0, 0, 0};
  CHECK(std::equal(header.begin(), header.end(), pack.begin() + static_cast<long>(start)));
  CHECK(pack[start + 16 + 8] == 7);  // the other's id is the smaller one by its bytes
  CHECK(pack[start + 96 + 8] == 3);
  CHECK(opened(pack)->superblock().compat == 1);
  // The superblock and what is behind the root is all that differs.
  const std::size_t end = plain.size();
  CHECK(std::equal(plain.begin() + 64, plain.end(), pack.begin() + 64));
  CHECK(std::equal(plain.begin(), plain.begin() + 16, pack.begin()));
  for (std::size_t i = end; i < start; ++i) CHECK(pack[i] == 0);
  // Without signatures it is the pack that it was.
  CHECK(with_signatures(pack, {}) == plain);
  CHECK(with_signatures(pack, signatures_of(pack)) == pack);
}

TEST_CASE("a reader that looks for no signatures sees the same pack", "[signatures]") {
  const Bytes pack = signed_sample();
  CHECK(parts_of(*opened(pack)) == parts_of(*opened(written(sample()))));
  CHECK(check_layout(*opened(pack)).ok());
  // What is written anew has none.
  CHECK(written(contents_of(opened(pack))) == written(sample()));
}

TEST_CASE("a key's text is what minisign prints", "[signatures]") {
  CHECK(key_text(signer().id) == kSignerId);
  CHECK(key_text(signature_by(kOtherKey, written(sample()), 1).key) == kOtherId);
}

TEST_CASE("every changed byte of the signatures is a named fault", "[signatures]") {
  const Bytes good = signed_sample();
  const Superblock s = opened(good)->superblock();
  CHECK(trust_in(good).ok());
  for (std::size_t i = s.root_offset + s.root_size; i < good.size(); ++i) {
    for (const std::uint8_t bit : {std::uint8_t{1}, std::uint8_t{0x80}}) {
      CAPTURE(i);
      Bytes bad = good;
      bad[i] = static_cast<std::uint8_t>(bad[i] ^ bit);
      CHECK(signature_fault(bad) != "");
      CHECK(check_layout(*opened(bad)).code == Code::signature_corrupt);
      // Nobody who does not ask is disturbed.
      CHECK(parts_of(*opened(bad)) == parts_of(*opened(good)));
    }
  }
}

TEST_CASE("a changed byte of a signature with its hash does not fit", "[signatures]") {
  const Bytes good = signed_sample();
  const std::size_t own = block_of(good) + 16 + 80;
  for (std::size_t i = own; i < own + 80; ++i) {
    CAPTURE(i);
    Bytes bad = good;
    bad[i] ^= 1;
    rehash_block(&bad);
    const Status status = trust_in(bad);
    if (status.code == Code::signature_corrupt) continue;  // the order of the keys
    CHECK(status.code == Code::untrusted);
    const bool other_key = i < own + 8;
    CHECK(mentions(status.message, other_key ? "other keys only" : "does not fit"));
  }
}

TEST_CASE("every length of the signatures but the right one is a fault", "[signatures]") {
  const Bytes good = signed_sample();
  const Superblock s = opened(good)->superblock();
  for (std::size_t size = s.root_offset + s.root_size; size < good.size() + 70; ++size) {
    if (size == good.size()) continue;
    CAPTURE(size);
    Bytes bad = good;
    set_size(&bad, size);
    CHECK(mentions(signature_fault(bad),
                   size < good.size() ? "truncated" : "bytes behind the block"));
  }
  // A huge end costs no memory.
  Bytes bad = good;
  set_size(&bad, 1u << 20);
  CHECK(mentions(signature_fault(bad), "bytes behind the block"));
}

TEST_CASE("each rule of the block has a message of its own", "[signatures]") {
  const Bytes good = signed_sample();
  const std::size_t start = block_of(good);
  const auto fault = [&](std::size_t at, std::uint8_t value) {
    Bytes bad = good;
    bad[at] = value;
    rehash_block(&bad);
    return signature_fault(bad);
  };
  CHECK(fault(start, 0) == "signatures: the first bytes are not their magic");
  CHECK(fault(start + 8, 0) == "signatures: there are 1 to 64, not 0");
  CHECK(fault(start + 8, 65) == "signatures: there are 1 to 64, not 65");
  CHECK(fault(start + 11, 1) == "signatures: there are 1 to 64, not 16777218");
  CHECK(fault(start + 12, 1) == "signatures: a reserved field is not zero");
  CHECK(fault(start + 8, 1) == "signatures: there are bytes behind the block");
  CHECK(fault(start + 8, 3) == "signatures: the block is truncated");
  CHECK(fault(start + 96 + 8, 0) == "signatures: a revision is 0");
  CHECK(fault(start + 96, 0) == "signatures: they are not in the order of their keys");
  CHECK(fault(start - 1, 1) == "signatures: the padding before them is not zero");
  Bytes bad = good;
  bad[start + 20] ^= 1;
  CHECK(signature_fault(bad) == "signatures: the block does not have its recorded hash");
  bad = good;
  std::copy_n(bad.begin() + static_cast<long>(start) + 16, 8,
              bad.begin() + static_cast<long>(start) + 96);
  rehash_block(&bad);
  CHECK(signature_fault(bad) == std::string("signatures: two are of the key ") + kOtherId);
}

TEST_CASE("what is not trusted is refused with its own message", "[signatures]") {
  const Bytes plain = written(sample());
  const auto message = [](const Bytes &pack, std::uint64_t revision = 0) {
    const Status status = trust_in(pack, revision);
    CHECK(status.code == Code::untrusted);
    return status.message;
  };
  CHECK(message(plain) == "the pack is not signed");
  CHECK(message(with_signatures(plain, {signature_by(kOtherKey, plain, 1)})) ==
        std::string("the pack is signed by other keys only: ") + kOtherId);
  const Bytes good = signed_sample();
  CHECK(trust_in(good, 3).ok());
  CHECK(message(good, 4) == "the pack is of revision 3, older than the required 4");
  // A root that was changed, with all hashes.
  Bytes forged = good;
  const Superblock s = opened(good)->superblock();
  Bytes text = bytes_of("llvm-spirv 14");
  const auto place = std::search(forged.begin(), forged.end(), text.begin(), text.end());
  REQUIRE(place != forged.end());
  *(place + 11) = '5';
  rehash(&forged, s);
  CHECK(mentions(message(forged),
                 std::string("the signature of the key ") + kSignerId + " does not fit"));
  // Another key under the known one's id.
  Signature false_id = signature_by(kOtherKey, plain, 9);
  false_id.key = signer().id;
  CHECK(mentions(message(with_signatures(plain, {false_id})), "does not fit"));
  // A higher revision than was signed.
  Signature newer = signature_by(kSignerKey, plain, 3);
  newer.revision = 4;
  CHECK(mentions(message(with_signatures(plain, {newer})), "does not fit"));
}

TEST_CASE("400 mutants of a signed pack are refused or show the same", "[signatures]") {
  const Bytes good = signed_sample();
  const Superblock s = opened(good)->superblock();
  const Parts expected = parts_of(*opened(good));
  std::mt19937 random(1);
  std::size_t refused = 0;
  std::size_t with_faults = 0;
  for (int i = 0; i < 400; ++i) {
    Bytes mutant = good;
    for (std::uint32_t flips = 1 + random() % 4; flips > 0; --flips) {
      mutant[random() % mutant.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
    }
    if (i % 2 == 0) rehash(&mutant, s);
    PackPointer pack;
    if (!open(mutant, &pack).ok() || !trust_in(mutant, 3).ok()) {
      ++refused;
      continue;
    }
    bool has_fault = false;
    for (const auto &[name, part] : parts_of(*pack)) {
      if (part == expected.at(name)) continue;
      has_fault = true;
      CHECK(part.code != Code::ok);
    }
    with_faults += has_fault;
  }
  CHECK(refused > 200);
  CHECK(with_faults > 50);
}

TEST_CASE("64 signatures are read and 65 are not written", "[signatures]") {
  const Bytes plain = written(sample());
  std::vector<Signature> signatures;
  for (std::uint8_t i = 0; i < 64; ++i) {
    signatures.push_back(signature_by(kOtherKey, plain, 1));
    signatures.back().key[7] = i;
  }
  signatures[9] = signature_by(kSignerKey, plain, 5);
  const Bytes pack = with_signatures(plain, signatures);
  CHECK(signatures_of(pack).size() == 64);
  CHECK(trust_in(pack, 5).ok());
  signatures.push_back(signatures[0]);
  const TemporaryFolder folder;
  const Status status =
      write_signed(*opened(plain), signatures, (folder.path() / "x.kiln").string());
  CHECK(status.code == Code::over_limit);
  CHECK(std::filesystem::is_empty(folder.path()));
}

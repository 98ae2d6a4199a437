// SPDX-License-Identifier: Apache-2.0
// Entries of Mesa's shader cache: blobs of a pack, and the databases that Mesa reads.
#include "runtime/provision/mesa_cache.hpp"

#include <string>

#include "tests/support/catch.hpp"

using namespace kiln;
using namespace kiln::runtime;
using packs::Code;

namespace {

const std::string kKeyA(40, 'a');
const std::string kKeyB = "b" + std::string(39, '0');
const std::string kMagic(
    "\x81"
    "FOSSILIZEDB\0\0\0\6",
    16);

std::string number(std::uint64_t value, unsigned bytes) {
  std::string text;
  for (unsigned i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

std::string entry(const std::string &key, const std::string &payload, std::uint32_t checksum) {
  return key + number(payload.size(), 4) + number(1, 4) + number(checksum, 4) +
         number(payload.size(), 4) + payload;
}

// CRC-32 of "123456789" is cbf43926; Mesa leaves out the complement.
const std::string kA = entry(kKeyA, "123456789", ~0xcbf43926u);
const std::string kB = entry(kKeyB, "", 0xffffffff);
const std::string kPlace = "0123/llvmpipe";

std::string index_entry(const std::string &key, std::uint64_t offset) {
  return key + number(8, 4) + number(1, 4) + number(0, 4) + number(8, 4) + number(offset, 8);
}

packs::View view(const std::string &text) {
  return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

std::string text(const packs::Bytes &bytes) { return std::string(bytes.begin(), bytes.end()); }

Code fault(const std::string &blob) {
  MesaBlob out;
  return parse_mesa_blob(view(blob), &out).code;
}

Code foz_fault(const std::string &foz) {
  std::vector<MesaEntry> out;
  return parse_foz(view(foz), &out).code;
}

std::vector<MesaEntry> entries_of(const std::string &foz) {
  std::vector<MesaEntry> out;
  REQUIRE(parse_foz(view(foz), &out).ok());
  return out;
}

std::string split(const std::string &foz, const std::vector<MesaEntry> &known = {}) {
  packs::Bytes out;
  REQUIRE(split_foz(kPlace, view(foz), known, &out).ok());
  return text(out);
}

FozFiles join(const std::vector<std::string> &blobs, const std::string &base = {}) {
  MesaJoin all;
  if (!base.empty()) REQUIRE(all.start(view(base)).ok());
  for (const std::string &blob : blobs) {
    MesaBlob parsed;
    REQUIRE(parse_mesa_blob(view(blob), &parsed).ok());
    all.add(parsed.entries);
  }
  FozFiles files;
  all.finish(&files);
  return files;
}

}  // namespace

TEST_CASE("a blob gives its place and its entries", "[mesa_cache]") {
  const std::string blob = kPlace + "\n" + kA + kB;
  MesaBlob parsed;
  REQUIRE(parse_mesa_blob(view(blob), &parsed).ok());
  CHECK(parsed.place == kPlace);
  REQUIRE(parsed.entries.size() == 2);
  CHECK(parsed.entries[0].key() == kKeyA);
  CHECK(parsed.entries[0].bytes.size == kA.size());
  CHECK(parsed.entries[1].key() == kKeyB);
  CHECK(fault(kPlace + "\n") == Code::ok);  // no entry
}

TEST_CASE("a blob that is cut anywhere but between entries is truncated", "[mesa_cache]") {
  const std::string blob = kPlace + "\n" + kA + kB;
  for (std::size_t size = 0; size < blob.size(); ++size) {
    CAPTURE(size);
    const bool between = size == kPlace.size() + 1 || size == kPlace.size() + 1 + kA.size();
    // A copy of just that size, so that a read behind it is seen by a sanitizer.
    const packs::Bytes cut(blob.begin(), blob.begin() + static_cast<std::ptrdiff_t>(size));
    MesaBlob out;
    CHECK(parse_mesa_blob({cut.data(), cut.size()}, &out).code ==
          (between ? Code::ok : Code::truncated));
    CHECK(out.entries.empty() == (size <= kPlace.size() + 1 || !between));
  }
}

TEST_CASE("a database that is cut anywhere but between entries is truncated", "[mesa_cache]") {
  const std::string foz = kMagic + kA + kB;
  for (std::size_t size = 0; size < foz.size(); ++size) {
    CAPTURE(size);
    const bool between = size == kMagic.size() || size == kMagic.size() + kA.size();
    CHECK(foz_fault(foz.substr(0, size)) == (between ? Code::ok : Code::truncated));
  }
}

TEST_CASE("every changed byte of an entry is seen", "[mesa_cache]") {
  for (std::size_t i = 0; i < kA.size(); ++i) {
    CAPTURE(i);
    std::string changed = kA;
    changed[i] = static_cast<char>(changed[i] ^ 0x80);
    CHECK(fault(kPlace + "\n" + changed) != Code::ok);
  }
}

TEST_CASE("faults of an entry have names", "[mesa_cache]") {
  const auto of = [](std::size_t at, char value) {
    std::string changed = kPlace + "\n" + kA;
    changed[kPlace.size() + 1 + at] = value;
    return fault(changed);
  };
  CHECK(of(0, 'A') == Code::bad_magic);
  CHECK(of(39, 'g') == Code::bad_magic);
  CHECK(of(40, 10) == Code::truncated);
  CHECK(of(43, '\xff') == Code::truncated);
  CHECK(of(44, 2) == Code::unknown_feature);
  CHECK(of(52, 8) == Code::unknown_feature);
  CHECK(of(48, 0) == Code::blob_corrupt);
  CHECK(of(56, '2') == Code::blob_corrupt);

  MesaBlob out;
  const std::string blob = kPlace + "\n" + kA.substr(0, 56) + "223456789";
  CHECK(parse_mesa_blob(view(blob), &out).message ==
        "Mesa's cache entry at byte 14 does not have the recorded checksum");
  CHECK(foz_fault(std::string(16, 'x')) == Code::bad_magic);
  CHECK(foz_fault(kMagic.substr(0, 15) + "\7") == Code::bad_magic);
}

TEST_CASE("keys rise, and none comes twice", "[mesa_cache]") {
  CHECK(fault(kPlace + "\n" + kB + kA) == Code::conflict);
  CHECK(fault(kPlace + "\n" + kA + kA) == Code::conflict);
}

TEST_CASE("a place is one to three plain names", "[mesa_cache]") {
  for (const char *good : {"a", "0/llvmpipe", "a/b/c", "A.b_c-9/..x", "...", "azAZ09._-"}) {
    CAPTURE(good);
    CHECK(is_mesa_place(good));
    CHECK(fault(std::string(good) + "\n" + kA) == Code::ok);
  }
  for (const char *bad : {"",     "/",     "/a",      "a/",   "a//b",     ".",   "..",  "../a",
                          "a/..", "a/./b", "a/b/c/d", "a b",  "a\\b",     "a:b", "a`b", "a{b",
                          "a@b",  "a[b",   "a,b",     "a\tb", "\xc3\xa4", "~",   "a\r"}) {
    CAPTURE(bad);
    CHECK_FALSE(is_mesa_place(bad));
    CHECK(fault(std::string(bad) + "\n" + kA) == Code::bad_argument);
  }
  CHECK_FALSE(is_mesa_place(std::string_view("a\0b", 3)));
  CHECK(is_mesa_place(std::string(255, 'a')));
  CHECK_FALSE(is_mesa_place(std::string(256, 'a')));
  CHECK(fault(std::string(255, 'a') + "\n") == Code::ok);
  CHECK(fault(std::string(256, 'a') + "\n") == Code::over_limit);
  packs::Bytes out;
  CHECK(split_foz("..", view(kMagic), {}, &out).code == Code::bad_argument);
}

TEST_CASE("a database becomes a blob with rising keys", "[mesa_cache]") {
  CHECK(split(kMagic) == kPlace + "\n");
  CHECK(split(kMagic + kA + kB) == kPlace + "\n" + kA + kB);
  CHECK(split(kMagic + kB + kA) == kPlace + "\n" + kA + kB);
  const std::string other = entry(kKeyA, "", 0xffffffff);
  CHECK(split(kMagic + other + kB + kA) == kPlace + "\n" + kA + kB);  // Mesa reads the last
  const std::string known = kMagic + kB;
  CHECK(split(kMagic + kB + kA, entries_of(known)) == kPlace + "\n" + kA);
  packs::Bytes out;
  CHECK(split_foz(kPlace, view(kMagic + "x"), {}, &out).code == Code::truncated);
}

TEST_CASE("blobs become the bytes that Mesa writes", "[mesa_cache]") {
  const FozFiles files = join({kPlace + "\n" + kB, kPlace + "\n" + kA + kB});
  CHECK(text(files.foz) == kMagic + kA + kB);
  CHECK(text(files.index) ==
        kMagic + index_entry(kKeyA, 56) + index_entry(kKeyB, 16 + kA.size() + 40));
  CHECK(files.index.size() == kFozMagicSize + 2 * kFozIndexEntrySize);
  const FozFiles none = join({});
  CHECK(text(none.foz) == kMagic);
  CHECK(text(none.index) == kMagic);
}

TEST_CASE("splitting what was joined gives the blob again", "[mesa_cache]") {
  const std::string blob = kPlace + "\n" + kA + kB;
  const FozFiles files = join({blob});
  CHECK(split(text(files.foz)) == blob);
  CHECK(text(join({split(text(files.foz))}).foz) == text(files.foz));
}

TEST_CASE("a join that goes on keeps what was there where it was", "[mesa_cache]") {
  const std::string base = kMagic + kB;
  const FozFiles before = join({kPlace + "\n" + kB});
  const FozFiles after = join({kPlace + "\n" + kA + kB}, base);
  CHECK(text(after.foz) == base + kA);
  CHECK(text(after.index) == text(before.index) + index_entry(kKeyA, base.size() + 40));
  CHECK(text(join({kPlace + "\n" + kB}, base).foz) == base);
  MesaJoin all;
  CHECK(all.start(view(kMagic + kB.substr(1))).code == Code::truncated);
  CHECK(all.entry_count() == 0);
}

TEST_CASE("a key has the digits 0 to 9 and a to f", "[mesa_cache]") {
  for (const char digit : std::string("09af")) {
    const std::string blob = kPlace + "\n" + entry(std::string(40, digit), "", 0xffffffff);
    CHECK(fault(blob) == Code::ok);
  }
  for (const char other : std::string("/:`gAF")) {
    const std::string blob = kPlace + "\n" + entry(std::string(40, other), "", 0xffffffff);
    CAPTURE(other);
    CHECK(fault(blob) == Code::bad_magic);
  }
}

TEST_CASE("a place that has no end is told from a blob that is cut off", "[mesa_cache]") {
  CHECK(fault(std::string(255, 'a')) == Code::truncated);
  CHECK(fault(std::string(256, 'a')) == Code::truncated);
  CHECK(fault(std::string(257, 'a')) == Code::over_limit);
  CHECK(fault("") == Code::truncated);
}

TEST_CASE("entries that are known do not keep the others out", "[mesa_cache]") {
  const std::string c = entry("c" + std::string(39, '0'), "", 0xffffffff);
  CHECK(split(kMagic + kA + kB + c, entries_of(kMagic + kB)) == kPlace + "\n" + kA + c);
  CHECK(text(join({kPlace + "\n" + kA + kB + c}, kMagic + kB).foz) == kMagic + kB + kA + c);
  const FozFiles none = join({kPlace + "\n" + kB}, kMagic + kB + kA + c);
  CHECK(text(none.foz) == kMagic + kB + kA + c);
}

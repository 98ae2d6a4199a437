// SPDX-License-Identifier: Apache-2.0
// The superblock: its exact bytes, and each fault in the order of FORMAT.md.
#include <limits>

#include "tests/packs/forge.hpp"

using namespace kiln::packs;
using namespace kiln::test;

namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

Superblock good() { return {1, 0, 0, 128, 32, 0x1122334455667788, 4096}; }

Bytes encoded(const Superblock &superblock) {
  Bytes bytes(kSuperblockSize);
  encode_superblock(superblock, bytes.data());
  return bytes;
}

Code decoded(const Bytes &bytes, std::uint64_t available = 4096) {
  Superblock superblock;
  return decode_superblock(bytes.data(), available, &superblock).code;
}

Bytes patched(std::size_t offset, std::uint8_t value, const Superblock &superblock = good()) {
  Bytes bytes = encoded(superblock);
  bytes[offset] = value;
  rehash_superblock(&bytes);
  return bytes;
}

}  // namespace

TEST_CASE("a superblock has the bytes that FORMAT.md gives", "[superblock]") {
  const Bytes expected = {
      0x89, 0x4b, 0x4c, 0x4e, 0x0d, 0x0a, 0x1a, 0x0a,  // magic
      0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  // version, incompat
      0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  // compat, reserved
      0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  // root offset
      0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  // root size
      0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,  // root XXH3-64
      0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  // pack size
      0x83, 0xa8, 0x82, 0xa1, 0x20, 0xaf, 0x16, 0xbd,  // XXH3-64 of the bytes above
  };
  Superblock superblock = good();
  superblock.compat = 5;
  CHECK(encoded(superblock) == expected);
}

TEST_CASE("a superblock reads back as it was written", "[superblock]") {
  Superblock in = good();
  in.compat = 0x80000001;
  Superblock out;
  REQUIRE(decode_superblock(encoded(in).data(), 4096, &out).ok());
  CHECK(out.version == in.version);
  CHECK(out.incompat == in.incompat);
  CHECK(out.compat == in.compat);
  CHECK(out.root_offset == in.root_offset);
  CHECK(out.root_size == in.root_size);
  CHECK(out.root_xxh3 == in.root_xxh3);
  CHECK(out.pack_size == in.pack_size);
}

TEST_CASE("every length below 64 is empty or truncated", "[superblock]") {
  const Bytes bytes = encoded(good());
  CHECK(decode_superblock(nullptr, 0, nullptr).code == Code::empty);
  for (std::size_t length = 1; length < kSuperblockSize; ++length) {
    CAPTURE(length);
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    CHECK(decoded(cut, length) == Code::truncated);
  }
}

TEST_CASE("foreign bytes of any length are not a truncated pack", "[superblock]") {
  for (const char *text : {"P", "\x89PNG",
                           "\x7f"
                           "ELF",
                           "#!/bin/sh\necho a script that is long "
                           "enough to hold a whole superblock\n"}) {
    CAPTURE(text);
    const Bytes bytes = bytes_of(text);
    CHECK(decoded(bytes, bytes.size()) == Code::bad_magic);
  }
}

TEST_CASE("a changed line ending is seen in the magic", "[superblock]") {
  const Bytes bytes = encoded(good());
  Bytes unix_text;  // CRLF became LF
  Bytes dos_text;   // LF became CRLF
  Bytes seven_bits = bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool pair = bytes[i] == '\r' && i + 1 < bytes.size() && bytes[i + 1] == '\n';
    if (!pair) unix_text.push_back(bytes[i]);
    if (bytes[i] == '\n') dos_text.push_back('\r');
    dos_text.push_back(bytes[i]);
    seven_bits[i] &= 0x7f;
  }
  CHECK(decoded(unix_text, unix_text.size()) == Code::bad_magic);
  CHECK(decoded(dos_text, dos_text.size()) == Code::bad_magic);
  CHECK(decoded(seven_bits) == Code::bad_magic);
}

TEST_CASE("a flipped bit is damage and never a newer version", "[superblock]") {
  const Bytes bytes = encoded(good());
  for (std::size_t bit = 0; bit < 8 * kSuperblockSize; ++bit) {
    CAPTURE(bit);
    Bytes flipped = bytes;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    CHECK(decoded(flipped) == (bit < 64 ? Code::bad_magic : Code::bad_superblock));
  }
}

TEST_CASE("a version that is not known is named before anything else is judged", "[superblock]") {
  for (const std::uint32_t version : {0u, 2u, 0xffffffffu}) {
    CAPTURE(version);
    const Superblock other{version, 1, 0, kLargest, kLargest, 0, kLargest};
    Superblock out;
    const Status status = decode_superblock(encoded(other).data(), 64, &out);
    CHECK(status.code == Code::newer_version);
    CHECK(mentions(status.message, std::to_string(version)));
  }
}

TEST_CASE("an unknown incompat bit is refused and a compat bit is not", "[superblock]") {
  for (unsigned bit = 0; bit < 32; ++bit) {
    Superblock superblock = good();
    superblock.compat = 1u << bit;
    CHECK(decoded(encoded(superblock)) == Code::ok);
    superblock.incompat = 1u << bit;
    const bool known = bit == 1 || bit == 2;
    CHECK(decoded(encoded(superblock)) == (known ? Code::ok : Code::unknown_feature));
  }
}

TEST_CASE("a reserved byte that is used is refused", "[superblock]") {
  for (std::size_t offset = 20; offset < 24; ++offset) {
    CHECK(decoded(patched(offset, 1)) == Code::reserved_not_zero);
  }
}

TEST_CASE("superblock faults are judged in the order of FORMAT.md", "[superblock]") {
  Superblock all{1, 0, 0, kLargest, kLargest, 0, kLargest};
  CHECK(decoded(encoded(all)) == Code::truncated);
  CHECK(decoded(patched(20, 1, all)) == Code::reserved_not_zero);
  CHECK(decoded(patched(12, 1, all)) == Code::unknown_feature);
  CHECK(decoded(patched(8, 2, all)) == Code::newer_version);
  Bytes damaged = patched(8, 2, all);
  damaged[55] ^= 1;
  CHECK(decoded(damaged) == Code::bad_superblock);
  CHECK(decoded(damaged, 63) == Code::truncated);
  damaged[0] ^= 1;
  CHECK(decoded(damaged, 63) == Code::bad_magic);
}

TEST_CASE("a pack larger than what there is is truncated, a smaller one is not", "[superblock]") {
  CHECK(decoded(encoded(good()), 4095) == Code::truncated);
  CHECK(decoded(encoded(good()), 4096) == Code::ok);
  CHECK(decoded(encoded(good()), 5000) == Code::ok);
}

TEST_CASE("a root that is not inside of the pack is refused without overflow", "[superblock]") {
  const auto fault = [](std::uint64_t offset, std::uint64_t size) {
    Superblock superblock = good();
    superblock.root_offset = offset;
    superblock.root_size = size;
    return decoded(encoded(superblock));
  };
  CHECK(fault(64, 4032) == Code::ok);
  CHECK(fault(4032, 64) == Code::ok);
  CHECK(fault(0, 32) == Code::out_of_bounds);     // in the superblock
  CHECK(fault(65, 32) == Code::out_of_bounds);    // not aligned
  CHECK(fault(64, 0) == Code::out_of_bounds);     // empty
  CHECK(fault(64, 4033) == Code::out_of_bounds);  // one byte too long
  CHECK(fault(4096, 1) == Code::out_of_bounds);
  CHECK(fault(4160, 1) == Code::out_of_bounds);
  CHECK(fault(kLargest, 1) == Code::out_of_bounds);
  CHECK(fault(kLargest - 63, 64) == Code::out_of_bounds);  // the sum is 2^64
  CHECK(fault(kLargest - 63, 128) == Code::out_of_bounds);
  CHECK(fault(64, kLargest) == Code::over_limit);
  CHECK(fault(64, kMaxRootSize) == Code::out_of_bounds);
  CHECK(fault(64, kMaxRootSize + 1) == Code::over_limit);
}

TEST_CASE("a pack over 1 TiB is over the limit", "[superblock]") {
  Superblock superblock = good();
  superblock.pack_size = kMaxPackSize;
  CHECK(decoded(encoded(superblock), kLargest) == Code::ok);
  superblock.pack_size = kMaxPackSize + 1;
  CHECK(decoded(encoded(superblock), kLargest) == Code::over_limit);
}

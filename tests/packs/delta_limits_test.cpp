// SPDX-License-Identifier: Apache-2.0
// What a delta's header and its parts may claim, at each limit and one beyond.
#include "packs/delta/delta_format.hpp"
#include "tests/support/catch.hpp"

using namespace kiln::packs;

namespace {

constexpr std::uint64_t kOld = std::uint64_t{1} << 40;  // size of the old pack
constexpr std::uint64_t kLeft = kMaxDeltaLiteral * std::uint64_t{4};

View view_of(const Bytes &bytes) { return {bytes.data(), bytes.size()}; }

Code judged(const DeltaPart &part, std::uint64_t old_size = kOld, std::uint64_t new_left = kLeft) {
  const Bytes bytes = encode_delta_part(part);
  DeltaPartHead head;
  const Status status = decode_delta_part_head(bytes.data(), bytes.size(), &head);
  if (!status.ok()) return status.code;
  CHECK(head.size() == bytes.size());
  DeltaPart decoded;
  return decode_delta_part(view_of(bytes), head, old_size, new_left, &decoded).code;
}

DeltaEntry copy(std::uint64_t offset, std::uint64_t size) { return {offset, size, 7}; }
DeltaEntry literal(std::uint64_t size) { return {kLiteralOffset, size, 0}; }

// A part with a frame that nothing decodes here.
DeltaPart part_of(std::uint32_t size, std::vector<DeltaEntry> operations,
                  std::vector<DeltaEntry> ranges = {}) {
  static const std::uint8_t frame[4] = {};
  DeltaPart part{size, std::move(ranges), std::move(operations), {}};
  if (size != 0) part.frame = {frame, sizeof(frame)};
  return part;
}

DeltaHeader header_of(std::uint64_t new_size) {
  DeltaHeader header;
  header.new_size = new_size;
  header.delta_size = kDeltaHeaderSize;
  return header;
}

}  // namespace

TEST_CASE("a copy and a prefix lie within the old pack", "[delta]") {
  struct Row {
    std::uint64_t offset, size;
    bool lies;
  };
  for (const Row &row :
       {Row{0, 10, true}, Row{9, 1, true}, Row{3, 7, true}, Row{0, 11, false}, Row{1, 10, false},
        Row{9, 2, false}, Row{10, 1, false}, Row{3, 0, false}, Row{11, 0, false}}) {
    CAPTURE(row.offset, row.size);
    const Code code = row.lies ? Code::ok : Code::out_of_bounds;
    CHECK(judged(part_of(0, {copy(row.offset, row.size)}), 10) == code);
    CHECK(judged(part_of(1, {literal(1)}, {copy(row.offset, row.size)}), 10) == code);
  }
}

TEST_CASE("the prefixes of a part have at most 64 MiB", "[delta]") {
  const auto code = [](std::vector<DeltaEntry> ranges) {
    return judged(part_of(1, {literal(1)}, std::move(ranges)));
  };
  CHECK(code({copy(0, kMaxDeltaPrefix)}) == Code::ok);
  CHECK(code({copy(0, kMaxDeltaPrefix + 1)}) == Code::over_limit);
  CHECK(code({copy(0, kMaxDeltaPrefix - 1), copy(5, 1)}) == Code::ok);
  CHECK(code({copy(0, kMaxDeltaPrefix - 1), copy(5, 2)}) == Code::over_limit);
  CHECK(code({copy(0, kMaxDeltaPrefix), copy(5, 1)}) == Code::over_limit);
}

TEST_CASE("an operation makes at most 16 MiB, and all of them what is left of the new pack",
          "[delta]") {
  CHECK(judged(part_of(0, {copy(0, kMaxDeltaLiteral)})) == Code::ok);
  CHECK(judged(part_of(0, {copy(0, kMaxDeltaLiteral + 1)})) == Code::over_limit);
  CHECK(judged(part_of(0, {copy(0, 6), copy(1, 4)}), kOld, 10) == Code::ok);
  CHECK(judged(part_of(0, {copy(0, 6), copy(1, 5)}), kOld, 10) == Code::over_limit);
  CHECK(judged(part_of(3, {copy(0, 6), literal(3)}), kOld, 9) == Code::ok);
  CHECK(judged(part_of(3, {copy(0, 6), literal(3)}), kOld, 8) == Code::over_limit);
}

TEST_CASE("the literal bytes of a part are used, each once", "[delta]") {
  CHECK(judged(part_of(5, {literal(2), copy(0, 9), literal(3)})) == Code::ok);
  CHECK(judged(part_of(5, {literal(2), literal(2)})) == Code::section_malformed);
  CHECK(judged(part_of(5, {literal(2), literal(4)})) == Code::section_malformed);
  CHECK(judged(part_of(5, {literal(5), literal(0)})) == Code::section_malformed);
  CHECK(judged(part_of(5, {{kLiteralOffset, 5, 1}})) == Code::section_malformed);
  CHECK(judged(part_of(5, {copy(0, 5)})) == Code::section_malformed);
  CHECK(judged(part_of(5, {})) == Code::section_malformed);
  CHECK(judged(part_of(0, {})) == Code::section_malformed);
  DeltaPart no_frame = part_of(5, {literal(5)});
  no_frame.frame = {};
  CHECK(judged(no_frame) == Code::section_malformed);
  DeltaPart frame_of_nothing = part_of(5, {copy(0, 5)});
  frame_of_nothing.literal = 0;
  CHECK(judged(frame_of_nothing) == Code::section_malformed);
}

TEST_CASE("a part's head claims at most what the format allows, and what is left", "[delta]") {
  const auto code = [](const DeltaPartHead &head, std::int64_t beyond = 0) {
    std::uint8_t bytes[kDeltaPartHeadSize];
    const std::uint32_t numbers[] = {head.literal, head.frame, head.ranges, head.operations};
    for (std::size_t i = 0; i < sizeof(bytes); ++i) {
      bytes[i] = static_cast<std::uint8_t>(numbers[i / 4] >> (8 * (i % 4)));
    }
    DeltaPartHead decoded;
    const std::uint64_t left = head.size() + static_cast<std::uint64_t>(beyond);
    return decode_delta_part_head(bytes, left, &decoded).code;
  };
  const DeltaPartHead most{kMaxDeltaLiteral, kMaxDeltaFrame, kMaxDeltaEntries, kMaxDeltaEntries};
  CHECK(code(most) == Code::ok);
  CHECK(code(most, 1) == Code::ok);
  CHECK(code(most, -1) == Code::section_malformed);
  CHECK(code({}) == Code::ok);
  CHECK(code({}, -8) == Code::section_malformed);  // just a head
  CHECK(code({}, -9) == Code::section_malformed);
  for (std::uint32_t DeltaPartHead::*member :
       {&DeltaPartHead::literal, &DeltaPartHead::frame, &DeltaPartHead::ranges,
        &DeltaPartHead::operations}) {
    DeltaPartHead alone;
    alone.*member = most.*member;
    CHECK(code(alone) == Code::ok);
    ++(alone.*member);
    CHECK(code(alone) == Code::over_limit);
  }
}

TEST_CASE("a delta makes a pack of one byte to 1 TiB", "[delta]") {
  const auto code = [](std::uint64_t new_size, std::uint64_t available = kDeltaHeaderSize) {
    DeltaHeader decoded;
    const Status status =
        decode_delta_header(view_of(encode_delta_header(header_of(new_size))), available, &decoded);
    if (status.ok()) CHECK(decoded.new_size == new_size);
    return status.code;
  };
  CHECK(code(1) == Code::ok);
  CHECK(code(kMaxPackSize) == Code::ok);
  CHECK(code(kMaxPackSize + 1) == Code::over_limit);
  CHECK(code(0) == Code::section_malformed);
  CHECK(code(1, kDeltaHeaderSize - 1) == Code::truncated);
  CHECK(code(1, kDeltaHeaderSize + 1) == Code::section_malformed);
}

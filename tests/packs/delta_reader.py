#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of deltas, after the section of packs/FORMAT.md alone.

    delta_reader.py OLD DELTA NEW

Exit codes: 0, 4 for a delta that it refuses, with the reason as one word. Needs what reader.py does.
"""

import struct
import sys
from pathlib import Path

import xxhash
import zstandard

from reader import Refused, blake2b, need, superblock

MAGIC = b"\x89KLD\r\n\x1a\n"
HEADER = 112
LITERAL = (1 << 64) - 1
LITERAL_MOST = 16 << 20
FRAME_MOST = LITERAL_MOST + (128 << 10)
PREFIX_MOST = 64 << 20
ENTRIES_MOST = 1 << 16
NEW_MOST = 1 << 40


def xxh3(data):
    """The hash that guards parts."""
    return xxhash.xxh3_64_intdigest(data)


def entries(data, at, count):
    """Ranges or operations: offset, size, hash."""
    return [struct.unpack_from("<QQQ", data, at + 24 * i) for i in range(count)]


def old_bytes(old, entry):
    """Bytes of the old pack, if they are those of which the delta was made."""
    offset, size, name = entry
    need(size > 0 and offset + size <= len(old), "out_of_bounds")
    data = old[offset:offset + size]
    need(xxh3(data) == name, "blob_corrupt")
    return data


def part(old, data, at):
    """What the part at a place makes, and where the next one begins."""
    need(at + 16 <= len(data), "section_malformed")
    literal, frame_size, range_count, count = struct.unpack_from("<IIII", data, at)
    need(literal <= LITERAL_MOST and frame_size <= FRAME_MOST and range_count <= ENTRIES_MOST
         and count <= ENTRIES_MOST, "over_limit")
    frame_at = at + 16 + 24 * (range_count + count)
    end = frame_at + frame_size + 8
    need(end <= len(data), "section_malformed")
    need(xxh3(data[at:end - 8]) == struct.unpack_from("<Q", data, end - 8)[0], "section_corrupt")
    need(count > 0 and (literal == 0) == (frame_size == 0), "section_malformed")
    prefix = b"".join(old_bytes(old, entry) for entry in entries(data, at + 16, range_count))
    need(len(prefix) <= PREFIX_MOST, "over_limit")
    text = b""
    if literal:
        base = zstandard.ZstdCompressionDict(prefix, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        text = zstandard.ZstdDecompressor(dict_data=base if prefix else None).decompress(
            data[frame_at:end - 8])
        need(len(text) == literal, "section_malformed")
    made = []
    for entry in entries(data, at + 16 + 24 * range_count, count):
        offset, size, name = entry
        need(size <= LITERAL_MOST, "over_limit")
        if offset != LITERAL:
            made.append(old_bytes(old, entry))
            continue
        need(0 < size <= len(text) and name == 0, "section_malformed")
        made.append(text[:size])
        text = text[size:]
    need(not text, "section_malformed")
    return b"".join(made), end


def apply(old, data):
    """The new pack's bytes."""
    need(data and data[:8] == MAGIC[:len(data)], "bad_magic")
    need(len(data) >= HEADER, "truncated")
    version, incompat, old_size, old_name, size, name, own_size, own_hash = struct.unpack_from(
        "<IIQ32sQ32sQQ", data, 8)
    need(xxh3(data[:104]) == own_hash, "bad_superblock")
    need(version == 1, "newer_version")
    need(incompat == 0, "unknown_feature")
    need(size <= NEW_MOST, "over_limit")
    need(size > 0, "section_malformed")
    need(own_size <= len(data), "truncated")
    need(own_size == len(data), "section_malformed")
    pack, root, *_ = superblock(old)
    need(len(pack) == old_size and blake2b(old[:64] + root) == old_name, "conflict")
    new, at = b"", HEADER
    while len(new) < size:
        made, at = part(pack, data, at)
        new += made
        need(len(new) <= size, "over_limit")
    need(at == len(data) and blake2b(new) == name, "section_malformed")
    return new


def main(old, delta, new):
    """The exit code."""
    try:
        Path(new).write_bytes(apply(Path(old).read_bytes(), Path(delta).read_bytes()))
    except Refused as why:
        print(why)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

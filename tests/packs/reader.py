#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of packs, after packs/FORMAT.md alone: it shares no code with Kiln's.

    reader.py PACK

Reads all of a pack, decodes each blob and checks every hash. Prints what it holds as JSON, in the
words of `kiln pack inspect --json`. Exit codes: 0, 4 for a pack that it refuses, with the reason as one
word. Needs Debian's python3-xxhash and python3-zstandard.
"""

import hashlib
import json
import struct
import sys
from pathlib import Path

import xxhash
import zstandard

MAGIC = b"\x89KLN\r\n\x1a\n"
HEADER = 64
ROOT_MOST = 256 << 20
SECTION_MOST = 64 << 20
BLOB_MOST = 1 << 30
ROLES = ("input", "output", "width", "height", "parameter", "depth", "scratch",
         "sampler")
STORAGES = ("buffer", "image", "local", "image1d", "image1d_buffer", "image1d_array",
            "image2d_array", "image3d")
ADDRESSINGS = ("none", "clamp_to_edge", "clamp", "repeat", "mirrored_repeat")
ADDRESS_SPACES = ("private", "global", "constant", "local")
ACCESSES = ("none", "read_only", "write_only", "read_write")
QUALIFIERS = ("const", "restrict", "volatile", "pipe")
TYPES = ("uchar", "ushort", "uint", "int", "float", "half")
NOTE_TEXTS = ("program", "variant", "kernel", "profile", "family", "model", "driver_from",
              "driver_below", "compiler_from", "compiler_below", "reason", "link")
SIZE_CLASSES = ("small", "medium", "large")
FINALITIES = ("not launched", "yes", "no")
STATISTICS = ("registers", "spills", "scratch_bytes", "local_bytes", "code_bytes", "instructions",
              "waves")
BASES = 2  # the bits of incompat
FRAMES = 4
FRAME_MAGIC = b"\x28\xb5\x2f\xfd"
FRAME_GROWTH = 64
BASES_MOST = 4
NAME = 32  # bytes of a BLAKE2b-256
SIGNED = 1  # of compat
SIGNATURES_MAGIC = b"\x89KLS\r\n\x1a\n"
ENTRY = 80  # bytes of a signature


class Refused(Exception):
    """The one word that says why."""


def need(holds, word):
    """Refuses what does not hold."""
    if not holds:
        raise Refused(word)


def blake2b(data):
    """The name of bytes."""
    return hashlib.blake2b(data, digest_size=NAME).digest()


def superblock(data):
    """Where the root is and how long the pack, judged in the format's order."""
    need(data, "empty")
    need(data[:8] == MAGIC[:len(data)], "bad_magic")
    need(len(data) >= HEADER, "truncated")
    (version, incompat, compat, needed, offset, size, root_hash, pack_size,
     own_hash) = struct.unpack_from("<IIIIQQQQQ", data, 8)
    need(xxhash.xxh3_64_intdigest(data[:56]) == own_hash, "bad_superblock")
    need(version == 1, "newer_version")
    need(incompat & ~(BASES | FRAMES) == 0, "unknown_feature")
    need(incompat or not needed, "reserved_not_zero")
    need(pack_size <= len(data), "truncated")
    need(1 <= size <= ROOT_MOST, "over_limit")
    need(offset % 64 == 0 and offset >= HEADER and offset + size <= pack_size, "out_of_bounds")
    root = data[offset:offset + size]
    need(xxhash.xxh3_64_intdigest(root) == root_hash, "root_corrupt")
    behind = (offset + size, data[offset + size:pack_size]) if compat & SIGNED else None
    return data[:pack_size], root, incompat, behind


def unpacked(stored, incompat, most, word):
    """The buffer of a root or a section, which may be in a frame."""
    if not incompat & FRAMES or stored[:4] != FRAME_MAGIC:
        return stored
    try:
        size = zstandard.frame_content_size(stored)
        need(0 <= size <= min(most, FRAME_GROWTH * len(stored)), word)
        decoder = zstandard.ZstdDecompressor().decompressobj()
        raw = decoder.decompress(bytes(stored))
    except zstandard.ZstdError as error:
        raise Refused(word) from error
    need(len(raw) == size and not decoder.unused_data, word)
    return raw


def signatures(behind):
    """Ids and revisions of the block behind the root. A signature itself is nothing to read."""
    if behind is None:
        return []
    end, data = behind
    padding = -end % 64
    block = data[padding:]
    word = "signature_corrupt"
    need(not any(data[:padding]) and len(block) >= 16, word)
    count, reserved = struct.unpack_from("<II", block, 8)
    need(block[:8] == SIGNATURES_MAGIC and reserved == 0 and 1 <= count <= 64, word)
    need(len(block) == 16 + count * ENTRY + 8, word)
    need(xxhash.xxh3_64_intdigest(block[:-8]) == struct.unpack_from("<Q", block, len(block) - 8)[0],
         word)
    entries = [struct.unpack_from("<8sQ", block, 16 + i * ENTRY) for i in range(count)]
    need(all(revision for _, revision in entries), word)
    ids = [key for key, _ in entries]
    need(ids == sorted(set(ids)), word)
    return [{"key": key[::-1].hex().upper(), "revision": revision} for key, revision in entries]


class Table:
    """A table of a FlatBuffers buffer; fields are numbered as the schema has them."""

    def __init__(self, data, at=None):
        self.data = data
        self.at = self.follow(0) if at is None else at

    def follow(self, at):
        """What the offset at a place leads to."""
        return at + struct.unpack_from("<I", self.data, at)[0]

    def place(self, field):
        """Of a field's bytes; nothing if it is absent."""
        start = self.at - struct.unpack_from("<i", self.data, self.at)[0]
        if 4 + 2 * field >= struct.unpack_from("<H", self.data, start)[0]:
            return None
        offset = struct.unpack_from("<H", self.data, start + 4 + 2 * field)[0]
        return self.at + offset if offset else None

    def number(self, field, kind):
        """By struct's letter; 0 if it is absent."""
        place = self.place(field)
        return 0 if place is None else struct.unpack_from("<" + kind, self.data, place)[0]

    def fixed(self, field, layout):
        """A struct's members."""
        return struct.unpack_from("<" + layout, self.data, self.place(field))

    def vector(self, field):
        """Count and first place; no elements if it is absent."""
        place = self.place(field)
        if place is None:
            return 0, 0
        start = self.follow(place)
        count = struct.unpack_from("<I", self.data, start)[0]
        need(count <= len(self.data), "malformed")
        return count, start + 4

    def all_fixed(self, field, layout):
        """The structs of a vector."""
        count, start = self.vector(field)
        size = struct.calcsize("<" + layout)
        return [struct.unpack_from("<" + layout, self.data, start + i * size)
                for i in range(count)]

    def text(self, field):
        """A string, empty if it is absent."""
        count, start = self.vector(field)
        return bytes(self.data[start:start + count]).decode()

    def texts(self, field):
        """A vector of strings."""
        found = []
        for table in self.tables(field):
            count = struct.unpack_from("<I", self.data, table.at)[0]
            found.append(bytes(self.data[table.at + 4:table.at + 4 + count]).decode())
        return found

    def tables(self, field):
        """A vector of tables."""
        count, start = self.vector(field)
        return [Table(self.data, self.follow(start + 4 * i)) for i in range(count)]


class Blobs:
    """The entries of a root or a section; each that is asked for is decoded and checked."""
    LAYOUT = f"{NAME}sQQQQII"

    def __init__(self, data, rows, incompat, root=None):
        self.data = data
        self.rows = rows
        self.incompat = incompat
        self.based = bool(incompat & BASES)  # whether the pack has bases
        self.root = root  # None: these are the root's

    def base(self, index, number, depth):
        """The raw bytes of a blob's base."""
        root = self.root or self
        need(1 <= number <= (len(root.rows) if self.root else index), "out_of_bounds")
        need(depth < BASES_MOST, "blob_corrupt")
        return root.get(number - 1, depth + 1)[1]

    def get(self, index, depth=0):
        """What is known of a blob, and its raw bytes."""
        name, offset, stored_size, raw_size, xxh3, codec, base = self.rows[index]
        need(codec <= 1 or codec == 2 and self.based, "unknown_feature")
        need(base == 0 or codec == 2 and self.based, "reserved_not_zero")
        need(stored_size <= BLOB_MOST and raw_size <= BLOB_MOST, "over_limit")
        need(offset % 64 == 0 and offset + stored_size <= len(self.data), "out_of_bounds")
        raw = self.data[offset:offset + stored_size]
        if codec != 0:
            need(raw_size <= 32768 * stored_size, "blob_corrupt")
            before = codec == 2 and self.base(index, base, depth)
            words = zstandard.ZstdCompressionDict(before) if before else None
            try:
                raw = zstandard.ZstdDecompressor(words).decompress(raw, max_output_size=raw_size)
            except zstandard.ZstdError as error:
                raise Refused("blob_corrupt") from error
        need(len(raw) == raw_size and xxhash.xxh3_64_intdigest(raw) == xxh3 and
             blake2b(raw) == name, "blob_corrupt")
        known = {"hash": name.hex(), "offset": offset, "stored_size": stored_size,
                 "raw_size": raw_size, "codec": ("raw", "zstd", "zstd")[codec]}
        if codec == 2:
            known["base"] = (self.root or self).rows[base - 1][0].hex()
        return known, bytes(raw)

    def maybe(self, number):
        """An index plus one, 0 for none."""
        return self.get(number - 1)[0] if number else None


def argument(table):
    """Of a variant, as far as its role has it."""
    role = ROLES[table.number(0, "B")]
    out = {"role": role}
    count, start = table.vector(9)
    if table.text(3):
        out["name"] = table.text(3)
    if role == "parameter" and count:
        out["values"] = list(struct.unpack_from(f"<{count}d", table.data, start))
    elif role == "parameter":
        out["value"] = table.number(4, "q")
    if role == "sampler":
        value = table.number(4, "q")
        need(0 <= value < 32 and value % 8 < len(ADDRESSINGS), "root_malformed")
        out["addressing"] = ADDRESSINGS[value % 8]
        out["filter"] = "linear" if value & 8 else "nearest"
        out["normalized"] = value >= 16
    if role in ("input", "output", "scratch"):
        out["storage"] = STORAGES[table.number(1, "B")]
        out["channels"] = table.number(2, "B")
    if table.number(7, "B"):
        out["stage"] = table.number(7, "B")
    return out


def parameter(row, texts):
    """Of a kernel."""
    name, type_, size, space, access, qualifiers, reserved = row
    need(reserved == 0, "reserved_not_zero")
    out = {"name": texts[name], "type": texts[type_], "size": size,
           "address_space": ADDRESS_SPACES[space], "qualifiers": []}
    if access:
        out["access"] = ACCESSES[access]
    need(qualifiers < 1 << len(QUALIFIERS), "root_malformed")
    out["qualifiers"] = [word for i, word in enumerate(QUALIFIERS) if qualifiers >> i & 1]
    return out


def kernel(table, texts):
    """Of a variant."""
    out = {"name": table.text(0), "arguments": table.number(1, "I")}
    if table.text(2):
        out["range"] = table.text(2)
    rows = table.all_fixed(3, "IIIBBBB")
    need(len(rows) in (0, out["arguments"]), "root_malformed")
    if rows:
        out["parameters"] = [parameter(row, texts) for row in rows]
    return out


def variant(table, blobs, texts):
    """Of a program."""
    word = table.number(8, "I")
    launches = table.number(13, "I")
    lines = blobs.get(launches - 1)[1].splitlines() if launches else []
    return {"name": table.text(0), "hash": table.fixed(1, f"{NAME}s")[0].hex(),
            "options": table.text(2), "requirements": table.texts(3),
            "kernels": [kernel(each, texts) for each in table.tables(4)],
            "source": blobs.maybe(table.number(5, "I")),
            "il32": blobs.maybe(table.number(6, "I")), "il64": blobs.maybe(table.number(7, "I")),
            "il_version": f"{word >> 16 & 255}.{word >> 8 & 255}",
            "pixels": list(table.fixed(9, "III")), "local_size": list(table.fixed(10, "III")),
            "arguments": [argument(each) for each in table.tables(11)],
            "tolerance": table.number(12, "d"), "launches": [json.loads(line) for line in lines],
            "limits": {STATISTICS[name]: value for value, _, name in table.all_fixed(14, "QII")
                       if name < len(STATISTICS)},
            "local_sizes": [list(size) for size in table.all_fixed(15, "III")],
            "workarounds": table.texts(16)}


def program(table, blobs, texts):
    """Of the root."""
    return {"name": table.text(0), "reference": table.text(1),
            "variants": [variant(each, blobs, texts) for each in table.tables(2)],
            "preferred": table.texts(3), "baseline": table.text(4),
            "sizes": [list(size) for size in table.all_fixed(5, "III")]}


def finish(table):
    """What is said of a binary's first launch."""
    return {"final": FINALITIES[table.number(2, "B")], "why_not_final": table.text(3),
            "finisher": table.text(4), "finish_microseconds": table.number(5, "Q"),
            "unfinished_size": table.number(6, "Q"), "driver": table.text(7),
            "local_sizes": [list(size) for size in table.all_fixed(8, "III")],
            "proof": table.text(9), "unproven": table.text(10),
            "made_from": table.text(12), "proved_by": table.text(13), "workaround": table.text(14)}


def statistics(table, kernels):
    """Of a binary: the figures of each kernel."""
    out = {}
    for value, kernel_, name in table.all_fixed(11, "QII"):
        known = kernels[kernel_] if kernel_ < len(kernels) else f"kernel {kernel_ + 1}"
        if name < len(STATISTICS):
            out.setdefault(kernel_, {"kernel": known})[STATISTICS[name]] = value
    return list(out.values())


def provenance(table, kernels):
    """Of a binary of a variant with these kernels."""
    names = ("max_work_group_size", "preferred_multiple", "private_bytes", "local_bytes")
    return {"build_log": table.text(0), "finish": finish(table),
            "kernels": [dict(zip(names, facts)) for facts in table.all_fixed(1, "QQQQ")],
            "statistics": statistics(table, kernels)}


def target(data, entry, variants, kernels, root):
    """A section, by its entry in the root."""
    key_hash, offset, size, xxh3, name = entry
    need(offset + size <= len(data), "out_of_bounds")
    section = data[offset:offset + size]
    need(xxhash.xxh3_64_intdigest(section) == xxh3 and blake2b(section) == name, "section_corrupt")
    table = Table(unpacked(section, root.incompat, SECTION_MOST, "section_malformed"))
    need(xxhash.xxh3_64_intdigest(table.text(0).encode()) == key_hash, "section_malformed")
    blobs = Blobs(data, table.all_fixed(8, Blobs.LAYOUT), root.incompat, root)
    layout = f"{NAME}sII"
    cache_entries = {each[0]: blobs.get(each[1])[0] for each in table.all_fixed(11, layout)}

    def binaries(field, said, more):
        return [{"variant": variants.get(each[0]), "variant_hash": each[0].hex(),
                 "blob": blobs.get(each[1])[0],
                 "provenance": provenance(told, kernels.get(each[0], [])), **more(each[0])}
                for each, told in zip(table.all_fixed(field, layout), table.tables(said))]

    return {"key": table.text(0), "profile": table.text(1), "family": table.text(2),
            "model": table.text(3), "compiler": table.text(4),
            "identity": {fact.text(0): fact.text(1) for fact in table.tables(5)},
            "binaries": binaries(6, 7, lambda hash: {"cache_entries": cache_entries.get(hash)}),
            "intermediates": binaries(9, 10, lambda hash: {})}


def tuning(row, texts, hash, packed):
    """Of the root, with the hash beside it; `packed` has the variants' by their names."""
    (key_hash, nanoseconds, default, program_, variant_, kernel_, size_class, profile, family,
     model, conditions, x, y, z, samples, spread, reserved) = row
    need(reserved == 0, "root_malformed")
    measured = hash.hex() if any(hash) else packed.get((texts[program_], texts[variant_]))
    return {"variant_hash": measured, "key_hash": f"{key_hash:016x}", "nanoseconds": nanoseconds,
            "default_nanoseconds": default, "program": texts[program_], "variant": texts[variant_],
            "kernel": texts[kernel_], "size_class": SIZE_CLASSES[size_class],
            "profile": texts[profile], "family": texts[family], "model": texts[model],
            "conditions": texts[conditions], "local_size": [x, y, z], "samples": samples,
            "spread": spread / 1000}


def note(row, texts):
    """A known-bad note of the root."""
    said = {name: texts[text] for name, text in zip(NOTE_TEXTS, row[:12]) if texts[text]}
    bits = {"overlay": 1, "exact": 2, "intermediate": 64, "il": 8, "source": 16}
    found = {"found": True} if row[12] != 0xffffffff and row[12] >> 31 else {}
    return {**said, **found, "rungs": [word for word, bit in bits.items() if row[12] & bit]}


def read(data):
    """All of a pack."""
    data, root, incompat, behind = superblock(memoryview(data))
    try:
        table = Table(unpacked(root, incompat, ROOT_MOST, "root_malformed"))
        blobs = Blobs(data, table.all_fixed(2, Blobs.LAYOUT), incompat)
        texts = table.texts(6)
        programs = [program(each, blobs, texts) for each in table.tables(1)]
        variants = {bytes.fromhex(each["hash"]): f"{owner['name']}/{each['name']}"
                    for owner in programs for each in owner["variants"]}
        packed = {(owner["name"], each["name"]): each["hash"]
                  for owner in programs for each in owner["variants"]}
        rows = table.all_fixed(5, "QQQ" + "I" * 14)
        hashes = [each[0] for each in table.all_fixed(9, f"{NAME}s")] or [bytes(32)] * len(rows)
        need(len(hashes) == len(rows), "root_malformed")
        kernels = {bytes.fromhex(each["hash"]): [one["name"] for one in each["kernels"]]
                   for owner in programs for each in owner["variants"]}
        return {"format_version": 1, "size": len(data),
                "signatures": signatures(behind), "producer": table.text(3),
                "programs": programs,
                "targets": [target(data, entry, variants, kernels, blobs)
                            for entry in table.all_fixed(0, f"QQQQ{NAME}s")],
                "tunings": [tuning(row, texts, hash, packed) for row, hash in zip(rows, hashes)],
                "known_bad": {"version": table.number(8, "I"),
                              "notes": [note(row, texts) for row in table.all_fixed(7, "I" * 13)]}}
    except (struct.error, IndexError, TypeError, UnicodeDecodeError) as error:
        raise Refused("root_malformed") from error


def main(path):
    """The exit code."""
    try:
        print(json.dumps(read(Path(path).read_bytes()), indent=2, sort_keys=True))
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

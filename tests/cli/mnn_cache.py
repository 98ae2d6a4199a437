# SPDX-License-Identifier: Apache-2.0
"""Writes a file of MNN's OpenCL cache: a FlatBuffer, from the front to the back."""

import hashlib
import struct

ELSEWHERE = "Mali-G710"  # the device that wrote it


class File:
    """Tables, lists and texts one behind the other; what is named before it is there is filled in."""

    def __init__(self):
        self.data = bytearray(4)  # where the root table is

    def name(self, place):
        """Fills in the offset at `place`, to what comes next."""
        self.data += bytes(-len(self.data) % 4)
        struct.pack_into("<I", self.data, place, len(self.data) - place)

    def bytes(self, place, value, end=b""):
        self.name(place)
        self.data += struct.pack("<I", len(value)) + value + end

    def text(self, place, value):
        self.bytes(place, value.encode(), b"\0")

    def places(self, place, count):
        """A list, with the places of its offsets."""
        self.name(place)
        first = len(self.data) + 4
        self.data += struct.pack("<I", count) + bytes(4 * count)
        return range(first, first + 4 * count, 4)

    def table(self, place, slots):
        """A table with offsets in these slots, with their places: its list of slots is before it."""
        count = max(slots) + 1
        self.data += bytes(-(len(self.data) + 4 + 2 * count) % 4)
        at = [4 + 4 * slots.index(slot) if slot in slots else 0 for slot in range(count)]
        self.data += struct.pack(f"<HH{count}H", 4 + 2 * count, 4 + 4 * len(slots), *at)
        self.name(place)
        first = len(self.data) + 4
        self.data += struct.pack("<i", 4 + 2 * count) + bytes(4 * len(slots))
        return range(first, first + 4 * len(slots), 4)


def write_mnn_cache(path, sources):
    """`sources`: programs' texts by their names in MNN."""
    file = File()
    (backends,) = file.table(0, [0])
    (backend,) = file.places(backends, 1)
    device, programs, driver = file.table(backend, [0, 1, 4])
    file.text(device, ELSEWHERE)
    file.text(driver, ELSEWHERE + " OpenCL 3.0 v1")
    for place, (name, source) in zip(file.places(programs, len(sources)), sources.items()):
        binary, program, options, md5 = file.table(place, [0, 1, 3, 4])
        file.bytes(binary, b"of another device")
        file.text(program, name)
        file.text(options, "")
        file.text(md5, hashlib.md5(source).hexdigest())
    path.write_bytes(file.data)

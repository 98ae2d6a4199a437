# SPDX-License-Identifier: Apache-2.0
"""Just enough PNG for the tests: 8-bit grey, RGB or RGBA, not interlaced."""

import struct
import zlib
from pathlib import Path

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOUR_TYPES = {1: 0, 3: 2, 4: 6}
CHANNELS = {kind: channels for channels, kind in COLOUR_TYPES.items()}


class Picture:
    """Rows of interleaved bytes."""

    def __init__(self, width, channels, rows):
        self.width, self.channels, self.rows = width, channels, rows

    @property
    def height(self):
        """The number of rows."""
        return len(self.rows)

    def cropped(self, width, height):
        """The upper left corner, a new picture."""
        rows = [row[:width * self.channels] for row in self.rows[:height]]
        return Picture(width, self.channels, rows)


def read(path, rows=None):
    """The picture in a file, or its first rows alone; ValueError where it is another kind."""
    header, data = b"", b""
    for kind, body in _chunks(Path(path).read_bytes()):
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            data += body
    width, height, bits, colour, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    if bits != 8 or interlaced or colour not in CHANNELS:
        raise ValueError(f"{path}: not 8-bit grey, RGB or RGBA without interlacing")
    channels = CHANNELS[colour]
    count = min(height, rows or height)
    return Picture(width, channels, _unfiltered(zlib.decompress(data), width, channels, count))


def write(picture, path):
    """Writes a picture, its rows without a filter."""
    header = struct.pack(">IIBBBBB", picture.width, picture.height, 8,
                         COLOUR_TYPES[picture.channels], 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in picture.rows))
    chunks = (_chunk(b"IHDR", header), _chunk(b"IDAT", data), _chunk(b"IEND", b""))
    Path(path).write_bytes(SIGNATURE + b"".join(chunks))


def worst_difference(first, second):
    """The largest difference of two files' pixels in levels; ValueError when shapes differ."""
    if Path(first).read_bytes() == Path(second).read_bytes():
        return 0
    a, b = read(first), read(second)
    if (a.width, a.height, a.channels) != (b.width, b.height, b.channels):
        raise ValueError(f"{first} and {second} have different shapes")
    return max(abs(x - y) for p, q in zip(a.rows, b.rows) for x, y in zip(p, q))


def _chunks(data):
    """The (kind, body) pairs of a file."""
    if not data.startswith(SIGNATURE):
        raise ValueError("not a PNG")
    place = len(SIGNATURE)
    while place < len(data):
        size, kind = struct.unpack(">I4s", data[place:place + 8])
        yield kind, data[place + 8:place + 8 + size]
        place += size + 12


def _chunk(kind, body):
    """A chunk with its length and check sum."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _unfiltered(data, width, channels, count):
    """The first rows of decompressed data, the filters undone."""
    stride = width * channels
    above, rows = bytearray(stride), []
    for start in range(0, count * (stride + 1), stride + 1):
        row = bytearray(data[start + 1:start + 1 + stride])
        _undo(data[start], row, above, channels)
        rows.append(row)
        above = row
    return rows


def _undo(kind, row, above, step):
    """Undoes one row's filter in place."""
    if kind == 0:
        return
    for i, value in enumerate(row):
        left = row[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        guess = (0, left, above[i], (left + above[i]) // 2, _paeth(left, above[i], corner))[kind]
        row[i] = (value + guess) & 255


def _paeth(left, up, corner):
    """The neighbour nearest to left + up - corner."""
    estimate = left + up - corner
    return min((left, up, corner), key=lambda neighbour: abs(estimate - neighbour))

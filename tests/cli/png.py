# SPDX-License-Identifier: Apache-2.0
"""Small PNG images, grey, with a slope of brightness."""

import struct
import zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path, width, height, bits):
    """A grey image of 8 or 16 bits a channel."""
    if bits not in (8, 16):
        raise ValueError(f"{bits} bits a channel; expected 8 or 16")
    rows = b"".join(
        b"\0" + b"".join(bytes([(7 * x + 13 * y) & 0xFF]) * (bits // 8) for x in range(width))
        for y in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, bits, 0, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )

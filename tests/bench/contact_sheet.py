# SPDX-License-Identifier: Apache-2.0
"""One picture of many: the same part of each, side by side, with no label but their order."""

import png

GAP = 8  # white pixels between two


def contact_sheet(pictures, output, part, columns):
    """Writes a sheet of `pictures`, a list of (path, scale).

    `part` is (x, y, width, height) of a picture with scale 1; a picture of scale 2 is twice as
    large, and every second pixel of it is taken.
    """
    tiles = [_tile(path, scale, part) for path, scale in pictures]
    width, height = part[2], part[3]
    blank = [b"\xff" * (3 * width)] * height
    rows = []
    for start in range(0, len(tiles), columns):
        line = tiles[start:start + columns]
        line += [blank] * (columns - len(line))
        gap = b"\xff" * (3 * GAP)
        rows += [gap.join(tile[y] for tile in line) for y in range(height)]
        rows += [b"\xff" * len(rows[0])] * GAP
    png.write(png.Picture(len(rows[0]) // 3, 3, rows[:-GAP]), output)


def _tile(path, scale, part):
    """The part's rows in RGB."""
    x, y, width, height = part
    picture = png.read(path, rows=scale * (y + height))
    rows = []
    for row in picture.rows[scale * y::scale]:
        pixels = [row[i:i + picture.channels]
                  for i in range(scale * x * picture.channels,
                                 scale * (x + width) * picture.channels,
                                 scale * picture.channels)]
        rows.append(b"".join(bytes(p[:3]) if picture.channels >= 3 else bytes(p) * 3
                             for p in pixels))
    return rows

# SPDX-License-Identifier: Apache-2.0
"""Makes bad packs out of good ones."""

import pathlib

from superblock import seal

GOLDEN = pathlib.Path(__file__).resolve().parent.parent.parent / "packs" / "golden"


def damage(data, changes):
    """`data` after each change in turn; a negative place counts from the end.

    cut:N        only the first N bytes
    drop:PLACE   without this byte
    flip:PLACE   one byte inverted
    set:PLACE=HEX
    append:HEX
    seal         the superblock's hash is made right again
    """
    out = bytearray(data)
    for change in changes:
        kind, _, value = change.partition(":")
        if kind == "cut":
            del out[int(value):]
        elif kind == "drop":
            del out[int(value)]
        elif kind == "flip":
            out[int(value)] ^= 0xFF
        elif kind == "set":
            place, _, text = value.partition("=")
            new = bytes.fromhex(text)
            out[int(place) : int(place) + len(new)] = new
        elif kind == "append":
            out += bytes.fromhex(value)
        elif kind == "seal":
            seal(out)
        else:
            raise ValueError(f"unknown change {change}")
    return bytes(out)


def bad_golden_packs():
    """What the table in packs/golden/README.md makes: its bytes and the fault, by its name."""
    found = {}
    for line in (GOLDEN / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().strip("`") for cell in line.split("|")[1:-1]]
        if len(cells) == 5 and cells[0].startswith(("bad-", "untrusted-")):
            name, origin, changes, _, fault = cells
            found[name] = damage((GOLDEN / origin).read_bytes(), changes.split()), fault
    return found

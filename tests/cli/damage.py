# SPDX-License-Identifier: Apache-2.0
"""Makes bad packs out of good ones."""

from superblock import seal


def damage(data, changes):
    """`data` after each change in turn; a negative place counts from the end.

    cut:N        only the first N bytes
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

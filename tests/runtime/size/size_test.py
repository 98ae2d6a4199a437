#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many bytes of Kiln a program links that only loads: sums what the linker's map has of Kiln's
static libraries, by library and by object.

usage: size_test.py MAP LIMIT

LIMIT in bytes; 0: none. Exit code 1 above it. Fewer than 2 KiB below it, prints a warning, which
tests/support/summary.py shows although the test passes.
"""
import collections
import re
import sys

# "  .text.name  0xaddress  0xsize  path/libkiln_runtime.a(object)"; long names break the line.
PIECE = re.compile(r"^ \.(?:text|rodata|data|bss|init_array|eh_frame|gcc_except_table)\S*\s+"
                   r"0x(?P<at>[0-9a-f]+)\s+0x(?P<size>[0-9a-f]+)\s+\S*/libkiln_(?P<library>\w+)\.a"
                   r"\((?P<object>[^)]+)\)", re.M)

MARGIN = 2 * 1024


def main():
    text = open(sys.argv[1]).read()
    limit = int(sys.argv[2])
    # What was not linked in is listed before.
    text = text[text.index("Linker script and memory map"):]
    sizes = collections.Counter()
    for piece in PIECE.finditer(text):
        if int(piece["at"], 16) != 0:
            sizes[piece["library"], piece["object"]] += int(piece["size"], 16)
    total = sum(sizes.values())
    if limit - MARGIN < total <= limit:
        print(f"WARNING: a program that only loads links {total} bytes of Kiln, limit {limit}")
    for library in sorted({library for library, _ in sizes}):
        print(f"{sum(v for k, v in sizes.items() if k[0] == library):8}  libkiln_{library}.a")
    for (_, name), size in sizes.most_common(12):
        print(f"{size:16}  {name}")
    print(f"{total:8}  bytes of Kiln in a program that only loads" + (f", limit {limit}" if limit else ""))
    return total == 0 or 0 < limit < total


if __name__ == "__main__":
    sys.exit(main())

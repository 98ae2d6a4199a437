#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sass_counts.py CUBIN...: how many instructions of each kind the kernels of cubins have.

`kiln pack extract PACK -o FOLDER` writes cubins of a pack. Needs nvdisasm, whose age does not matter: it is
given the bare code of compute capability 9.0, whatever the file is like. Counts are of the code, not
of what a work-item runs.
"""

import collections
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path


def sections(data):
    """The name and the bytes of each section of an ELF file of 64 bits."""
    table, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    for head in heads:
        start = heads[names][4] + head[0]
        yield data[start:data.index(b"\0", start)].decode(), data[head[4]:head[4] + head[5]]


def counts(code):
    with tempfile.NamedTemporaryFile() as file:
        file.write(code)
        file.flush()
        listing = subprocess.run(["nvdisasm", "-b", "SM90", file.name], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
    return collections.Counter(re.findall(r"\*/\s+(?:@!?U?P\d+ )?([A-Z0-9]+)", listing))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for path in sys.argv[1:]:
        for name, code in sections(Path(path).read_bytes()):
            if name.startswith(".text."):
                found = counts(code)
                print(f"{path} {name[6:]}: {sum(found.values())}: "
                      + ", ".join(f"{kind} {n}" for kind, n in found.most_common(16)))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where a source file does not name its licence in its first two lines.

A line "SPDX-License-Identifier: ID" in the file's kind of comment, ID as in LICENSE.
"""

import subprocess
import sys

from tracked import GENERATED, ROOT

LICENCES = {"Apache License": "Apache-2.0", "MIT License": "MIT", "BSD 3-Clause": "BSD-3-Clause",
            "BSD 2-Clause": "BSD-2-Clause"}
# Not OpenCL C, whose bytes are what packs are made of, nor what the bench page embeds.
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".py", ".sh", ".cmake", ".fbs"}


def licence():
    head = (ROOT / "LICENSE").read_text(encoding="utf-8")[:200]
    return next(name for title, name in LICENCES.items() if title in head)


def main():
    expected = f"SPDX-License-Identifier: {licence()}"
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], stdout=subprocess.PIPE,
                            check=True).stdout.decode().split("\0")
    files = [ROOT / name for name in listed if name]
    files = [path for path in files if GENERATED not in path.parents and path.is_file()
             and (path.suffix in SUFFIXES or path.name in ("CMakeLists.txt", "bootstrap.sh"))]
    missing = [path for path in files
               if expected not in "".join(path.open(encoding="utf-8").readlines()[:2])]
    for path in missing:
        print(f"{path.relative_to(ROOT)}: no {expected}")
    print(f"{len(files)} files, {len(missing)} without")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where a source file does not begin with its licence and, in C++, with what it is for.

A line "SPDX-License-Identifier: ID" in the file's kind of comment, ID as in LICENSE, is one of the
first two. In C++ of the product a comment on the second line says what the file is for.
"""

import sys

from tracked import GENERATED, ROOT, listed

LICENCES = {"Apache License": "Apache-2.0", "MIT License": "MIT", "BSD 3-Clause": "BSD-3-Clause",
            "BSD 2-Clause": "BSD-2-Clause"}
# Not OpenCL C, whose bytes are what packs are made of.
SUFFIXES = {".java", ".c", ".h", ".cpp", ".hpp", ".py", ".jl", ".rs", ".sh", ".cmake", ".fbs"}

CPP_FOLDERS = ("builder", "packs", "runtime")


def licence():
    head = (ROOT / "LICENSE").read_text(encoding="utf-8")[:200]
    return next(name for title, name in LICENCES.items() if title in head)


def lacks_purpose(path, second):
    """Whether the second line, of a C++ file of the product, is no comment."""
    return (path.suffix in (".cpp", ".hpp") and path.relative_to(ROOT).parts[0] in CPP_FOLDERS
            and not second.startswith("//"))


def main():
    expected = f"SPDX-License-Identifier: {licence()}"
    files = [path for path in listed() if GENERATED not in path.parents and path.is_file()
             and (path.suffix in SUFFIXES or path.name in ("CMakeLists.txt", "bootstrap.sh"))]
    missing = 0
    for path in files:
        first, second = [*path.read_text(encoding="utf-8").split("\n"), ""][:2]
        if expected not in first + second:
            missing += 1
            print(f"{path.relative_to(ROOT)}: no {expected}")
        if lacks_purpose(path, second):
            missing += 1
            print(f"{path.relative_to(ROOT)}:2: no comment that says what the file is for")
    print(f"{len(files)} files, {missing} without")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

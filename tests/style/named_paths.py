#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where a document names a file or folder of this repository that is not there.

A name is what stands in back quotes and begins with a top folder, up to a blank: `packs/read/pack.cpp`.
Of `{cpp,hpp}` each must be there; `*`, and a word such as NAME, must match something.
"""

import re
import sys

from tracked import ROOT

DOCUMENTS = ("docs/**/*.md", "README.md", "CONTRIBUTING.md")
NAME = re.compile(r"`((?:android|builder|runtime|packs|kernels|manifests|tests|cmake|docs|examples)/[^`\s]*)[^`]*`")
PLACEHOLDER = re.compile(r"(?<![A-Z])(?:NAME|ROOM|VENDOR)(?![A-Z])")
BRACES = re.compile(r"\{([^{}]*)\}")


def expanded(name):
    """The names that `{a,b}` stands for."""
    braces = BRACES.search(name)
    if not braces:
        return [name]
    return [one for word in braces.group(1).split(",")
            for one in expanded(name[:braces.start()] + word + name[braces.end():])]


def is_there(name):
    return any(ROOT.glob(PLACEHOLDER.sub("*", name).rstrip("/")))


def main():
    documents = [path for pattern in DOCUMENTS for path in sorted(ROOT.glob(pattern))]
    count, faults = 0, 0
    for path in documents:
        document = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            for name in NAME.findall(line):
                count += 1
                missing = [one for one in expanded(name) if not is_there(one)]
                if missing:
                    faults += 1
                    print(f"{document}:{number}: there is no {', '.join(missing)}")
    print(f"{len(documents)} documents, {count} names, {faults} of nothing")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where a document, or a comment of C++, names a file of this repository that is not there, or a
CMakeLists.txt a case of Python's.

A name is what stands in back quotes and begins with a top folder, up to a blank: `packs/read/pack.cpp`.
Of `{cpp,hpp}` each must be there; `*`, and a word such as NAME, must match something. In a comment
it is a word that ends in .cpp, .hpp or .py: the name of a file in any folder.
"""

import re
import sys

from tracked import ROOT, listed, tracked

DOCUMENTS = ("docs/**/*.md", "README.md", "CONTRIBUTING.md")
NAME = re.compile(r"`((?:android|builder|runtime|packs|kernels|manifests|tests|cmake|docs|examples)/[^`\s]*)[^`]*`")
PLACEHOLDER = re.compile(r"(?<![A-Z])(?:NAME|ROOM|VENDOR)(?![A-Z])")
IN_COMMENT = re.compile(r"(?<![\w./*-])[\w/]+\.(?:cpp|hpp|py)\b")
CASE = re.compile(r"\b([A-Z]\w+)\.(test_\w+)")
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


def comments(text):
    """The lines' numbers and comments."""
    for number, line in enumerate(text.split("\n"), 1):
        start = re.search(r"(?<!:)//|^\s*/?\*", line)
        if start:
            yield number, line[start.start():]


def missing_in_comments():
    """What comments of C++ name that is not there."""
    there = {"/" + path.relative_to(ROOT).as_posix() for path in listed()}
    ends = {path[at:] for path in there for at, letter in enumerate(path) if letter == "/"}
    for path in tracked(".cpp", ".hpp", ".h", ".c"):
        for number, comment in comments(path.read_text(encoding="utf-8")):
            for name in IN_COMMENT.findall(comment):
                if "/" + name.lstrip("/") not in ends:
                    yield f"{path.relative_to(ROOT).as_posix()}:{number}: there is no {name}"


def missing_cases():
    """What lists of tests name that is not there."""
    there = {(name, case) for path in tracked(".py")
             for part in re.split(r"^(?=class )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
             for name in re.findall(r"^class (\w+)", part) for case in re.findall(r"def (test_\w+)", part)}
    for path in ROOT.glob("tests/**/CMakeLists.txt"):
        for name, case in CASE.findall(path.read_text(encoding="utf-8")):
            if (name, case) not in there:
                yield f"{path.relative_to(ROOT).as_posix()}: there is no {name}.{case}"


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
    for fault in [*missing_in_comments(), *missing_cases()]:
        faults += 1
        print(fault)
    print(f"{len(documents)} documents, {count} names, {faults} of nothing")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the table of promises in docs/understand/scope.md against the code.

usage: scope.py [--print]

Each row names a promise, the folders of its code, their lines and the folders of its tests. Fails
on a folder that does not exist, on a product folder in no row or in two, and on lines that are off
by more than a tenth. Generated code does not count. --print prints the rows with the right lines.
"""
import re
import sys

from tracked import GENERATED, ROOT, listed

DOCUMENT = ROOT / "docs" / "understand" / "scope.md"
HEADING = "\n## Promises\n"
TOPS = ("packs", "runtime", "builder", "android", "cmake", "kernels")
SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".py", ".cmake", ".java", ".cl", ".clh"}
SHARE = 0.1  # of the right lines


def read_rows(text):
    """The table's rows as lists of cells, without its head."""
    section = text.split(HEADING, 1)[1].split("\n## ", 1)[0]
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in section.splitlines() if line.startswith("|")]
    return rows[2:]


def folders_in(cell):
    return [name.rstrip("/") for name in re.findall(r"`([^`]+)`", cell)]


def lines_by_file():
    return {path.relative_to(ROOT).as_posix(): path.read_bytes().count(b"\n")
            for path in listed(*TOPS)
            if path.suffix in SUFFIXES and path.is_file() and GENERATED not in path.parents}


def owner_of(name, folders):
    """The longest of the folders that holds the file, or None."""
    return max((folder for folder in folders if name.startswith(folder + "/")), key=len,
               default=None)


def main(print_rows):
    rows = read_rows(DOCUMENT.read_text(encoding="utf-8"))
    code = [folder for row in rows for folder in folders_in(row[1])]
    tests = [folder for row in rows for folder in folders_in(row[3])]
    faults = [f"no such folder: {folder}" for folder in sorted({*code, *tests})
              if not (ROOT / folder).is_dir()]
    faults += [f"in two rows: {folder}" for folder in sorted(set(code)) if code.count(folder) > 1]
    lines = dict.fromkeys(code, 0)
    homeless = set()
    for name, count in lines_by_file().items():
        owner = owner_of(name, code)
        if owner is None:
            homeless.add(name.rsplit("/", 1)[0])
        else:
            lines[owner] += count
    faults += [f"in no row: {folder}" for folder in sorted(homeless)]
    for promise, folders, stated, covered in rows:
        own = folders_in(folders)
        right = sum(lines[folder] for folder in own) if own else sum(lines.values())
        if print_rows:
            print(f"| {promise} | {folders} | {right:,} | {covered} |")
        if abs(int(stated.replace(",", "")) - right) > SHARE * right:
            faults.append(f"{promise}: {stated} lines stated, {right:,} are right")
        if own and not folders_in(covered):
            faults.append(f"{promise}: no tests")
    if not print_rows:
        print("\n".join(faults + [f"{len(rows)} rows, {len(faults)} faults"]))
    return 1 if faults and not print_rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["--print"]))

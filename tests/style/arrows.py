#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the includes between rooms against the table in docs/design.md.

usage: arrows.py [--root DIR]

A room is a folder of sources. Its row in the table "Rooms and arrows" names the rooms whose headers
it may include. Fails on an include that the table lacks, on an arrow of the table that no include
uses, on a room without a row, and on a cycle. Two headers of one name fail, too.
"""
import argparse
import collections
import pathlib
import re
import sys

SOURCES = {".cpp", ".hpp", ".c", ".h"}
TOPS = ("packs", "runtime", "builder", "kernels")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def read_table(text):
    section = text.split("\n## Rooms and arrows\n", 1)[1].split("\n## ", 1)[0]
    table = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 3 or not cells[0].startswith("`"):
            continue
        for room in re.findall(r"`([^`]+)`", cells[0]):
            table[room] = set(re.findall(r"`([^`]+)`", cells[-1]))
    return table


def room_of(path):
    """The room of a source file, by its path from the root."""
    parts = path.split("/")
    if parts[0] in ("packs", "kernels"):
        return parts[0]
    if parts[:2] == ["runtime", "include"]:
        return "runtime/include"
    return "/".join(parts[:2])


def target_of(include, root):
    """The room that an include names, or None for a header from outside."""
    if include.startswith("kiln/packs/") or include == "pack_generated.h":
        return "packs"
    if include.startswith("kiln/"):
        own = (root / "builder/include" / include).is_file()
        return "builder/include" if own else "runtime/include"
    return room_of(include) if include.startswith(TOPS) and (root / include).is_file() else None


def read_arrows(root):
    arrows = collections.defaultdict(dict)
    for top in TOPS:
        for path in sorted((root / top).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in SOURCES or "/generated/" in name:
                continue
            own = room_of(name)
            arrows[own]
            for include in INCLUDE.findall(path.read_text()):
                other = target_of(include, root)
                if other and other != own:
                    arrows[own].setdefault(other, name)
    return arrows


def allowed(own, other, table):
    """`runtime` in a row of the builder stands for every room of the runtime."""
    row = table.get(own, set())
    return other in row or other.split("/")[0] in row


def cycle_in(graph):
    state = {}

    def visit(room, path):
        if state.get(room) == "done":
            return None
        if room in path:
            return path[path.index(room):] + [room]
        for other in graph.get(room, ()):
            found = visit(other, path + [room])
            if found:
                return found
        state[room] = "done"
        return None

    for room in graph:
        found = visit(room, [])
        if found:
            return found
    return None


def same_names(root):
    """Private headers whose names are equal, among the rooms of one top folder."""
    seen = collections.defaultdict(list)
    for top in TOPS:
        for path in sorted((root / top).rglob("*.hpp")):
            seen[path.name].append(path.relative_to(root).as_posix())
    return {name: paths for name, paths in seen.items() if len(paths) > 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2])
    root = parser.parse_args().root
    table = read_table((root / "docs/design.md").read_text())
    arrows = read_arrows(root)
    faults = []
    for own, others in sorted(arrows.items()):
        if own not in table:
            faults.append(f"{own} has no row in docs/design.md")
        for other, where in sorted(others.items()):
            if not allowed(own, other, table):
                faults.append(f"{where} includes from {other}, which the row of {own} lacks")
    for own, others in sorted(table.items()):
        used = set(arrows.get(own, {}))
        used |= {other.split("/")[0] for other in used}
        for other in sorted(others - used):
            faults.append(f"the row of {own} names {other}, which no include uses")
    cycle = cycle_in({own: list(others) for own, others in arrows.items()})
    if cycle:
        faults.append("a cycle: " + " -> ".join(cycle))
    for name, paths in sorted(same_names(root).items()):
        faults.append(f"{name} exists {len(paths)} times: " + ", ".join(paths))
    for fault in faults:
        print(fault)
    count = sum(len(others) for others in arrows.values())
    print(f"{len(arrows)} rooms, {count} arrows, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

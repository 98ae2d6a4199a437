#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the includes between rooms against the table in docs/understand/design.md.

usage: arrows.py [--root DIR]

A room is a folder of sources. Its row in the table "Rooms and arrows" names the rooms whose headers
it may include. Fails on an include that the table lacks, on an arrow of the table that no include
uses, on a room without a row, and on a cycle of rooms or of files, where a header and the source of
its name are one. Two headers of one name fail, too, and so does an include from the tests.
"""
import argparse
import collections
import pathlib
import re
import sys

SOURCES = {".cpp", ".hpp", ".c", ".h"}
TOPS = ("packs", "runtime", "builder", "kernels", "android/jni")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
PACKS_HEADER = re.compile(r"packs/include/kiln/packs/(\w+)\.hpp")
# Headers of packs that have no source of their name.
HEADERS_ALONE = {"path": "base", "argument_words": "base", "known_bad": "base", "members": "write",
                 "write_options": "write"}
NESTED_ROOMS = ("runtime/layer/base", "runtime/layer/record", "runtime/layer/serve",
                "builder/fleet/delivery", "builder/fleet/report", "builder/fleet/watch",
                "builder/cli/fleet")
PUBLIC = ("", "packs/include", "runtime/include", "kernels/include")  # what includes begin at
# Includes that may close a cycle of files, without the suffixes.
CLOSING = {
    # Two halves of the public interface: kiln.h says why.
    ("runtime/include/kiln/kiln", "runtime/include/kiln/launch"),
}


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


def room_of(path, root):
    """The room of a source file, by its path from the root. A public header of packs is of the room
    that has its source."""
    parts = path.split("/")
    if parts[0] == "kernels":
        return parts[0]
    header = PACKS_HEADER.fullmatch(path)
    if header:
        source = next((root / "packs").glob(f"*/{header[1]}.cpp"), None)
        return "packs/" + (source.parent.name if source else HEADERS_ALONE[header[1]])
    if parts[:2] == ["runtime", "include"]:
        return "runtime/include"
    nested = "/".join(parts[:3])
    return nested if nested in NESTED_ROOMS else "/".join(parts[:2])


def target_of(include, root):
    """The room that an include names, or None for a header from outside."""
    if include == "pack_generated.h":
        return "packs/read"
    if include.startswith("kiln/packs/"):
        return room_of("packs/include/" + include, root)
    if include.startswith("kiln/"):
        own = (root / "kernels/include" / include).is_file()
        return "kernels" if own else "runtime/include"
    known = include.startswith((*TOPS, "tests"))
    return room_of(include, root) if known and (root / include).is_file() else None


def read_includes(root):
    """Each source file by its path from the root, with what it includes as written."""
    return {path.relative_to(root).as_posix(): INCLUDE.findall(path.read_text())
            for top in TOPS for path in sorted((root / top).rglob("*"))
            if path.suffix in SOURCES and "generated" not in path.parts}


def read_arrows(files, root):
    arrows = collections.defaultdict(dict)
    for name, includes in files.items():
        own = room_of(name, root)
        arrows[own]
        for include in includes:
            other = target_of(include, root)
            if other and other != own:
                arrows[own].setdefault(other, name)
    return arrows


def unit_of(path):
    """A source and the header of its name, which packs keeps in a folder of its own."""
    path = re.sub("^packs/(include/kiln/packs|base|read|write|delta|sign)/", "packs/", path)
    return path.rsplit(".", 1)[0]


def read_units(files):
    """Unit -> the units that its files include."""
    units = collections.defaultdict(set)
    for name, includes in files.items():
        own = unit_of(name)
        for include in includes:
            paths = [f"{folder}/{include}".lstrip("/") for folder in PUBLIC]
            other = next((unit_of(path) for path in paths if path in files), own)
            if other != own and (own, other) not in CLOSING:
                units[own].add(other)
    return {own: sorted(others) for own, others in units.items()}


def allowed(own, other, table):
    """`runtime` in a row of the builder stands for every room of the runtime."""
    row = table.get(own, set())
    return other in row or other.split("/")[0] in row


def cycle_in(graph):
    state = {}

    def visit(node, path):
        if state.get(node) == "done":
            return None
        if node in path:
            return path[path.index(node):] + [node]
        for other in graph.get(node, ()):
            found = visit(other, path + [node])
            if found:
                return found
        state[node] = "done"
        return None

    for node in graph:
        found = visit(node, [])
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
    table = read_table((root / "docs/understand/design.md").read_text())
    files = read_includes(root)
    arrows = read_arrows(files, root)
    faults = []
    for own, others in sorted(arrows.items()):
        if own not in table:
            faults.append(f"{own} has no row in docs/understand/design.md")
        for other, where in sorted(others.items()):
            if not allowed(own, other, table):
                faults.append(f"{where} includes from {other}, which the row of {own} lacks")
    for own, others in sorted(table.items()):
        used = set(arrows.get(own, {}))
        used |= {other.split("/")[0] for other in used}
        for other in sorted(others - used):
            faults.append(f"the row of {own} names {other}, which no include uses")
    for what, graph in (("rooms", {own: list(others) for own, others in arrows.items()}),
                        ("files", read_units(files))):
        cycle = cycle_in(graph)
        if cycle:
            faults.append(f"a cycle of {what}: " + " -> ".join(cycle))
    for name, paths in sorted(same_names(root).items()):
        faults.append(f"{name} exists {len(paths)} times: " + ", ".join(paths))
    for fault in faults:
        print(fault)
    count = sum(len(others) for others in arrows.values())
    print(f"{len(arrows)} rooms, {count} arrows, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles each source of packs, runtime and builder alone, as far as its syntax, by Clang: a source
that leans on what another one includes builds in a unity build alone.

    alone.py BUILD

BUILD has compile_commands.json, of a unity build or of any other. The standard library and other
people's headers are precompiled where that saves more than it costs: what is missed of them is
clang-tidy's matter (tidy.py). Exit codes: 0; 1 a source does not compile; 77 there is no Clang.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from tracked import ROOT

ROOMS = tuple(f"{ROOT}/{part}/" for part in ("packs", "runtime", "builder"))
STANDARD = ("algorithm array atomic chrono cstdio cstdlib cstring functional map memory mutex optional "
            "set string string_view unordered_map utility vector CL/cl.h")
BUILDER = "filesystem fstream sstream fmt/format.h nlohmann/json.hpp"
COMMANDS = "CLI/CLI.hpp"
KEPT = re.compile(r"-D.*|-I.*|-std=.*|-f(?:no-)?(?:exceptions|rtti)")


def find_clang():
    names = ("clang++", *(f"clang++-{n}" for n in range(20, 13, -1)))
    return next((name for name in names if shutil.which(name)), None)


def options_of(command):
    """What of a compiler's command decides how a source is read."""
    words = shlex.split(command)
    options = [word for word in words if KEPT.fullmatch(word)]
    for at, word in enumerate(words):
        if word == "-isystem":
            options += [word, words[at + 1]]
    return tuple(options)


def sources_of(build):
    """Each C++ source of the product, with the options of the first target that has it."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        file = pathlib.Path(entry["directory"], entry["file"])
        files = [str(file)]
        if "/Unity/" in str(file):
            text = file.read_text(encoding="utf-8")
            files = re.findall(r'^#include "(.*)"$', text, flags=re.M)
        for name in files:
            if name.startswith(ROOMS) and name.endswith(".cpp"):
                found.setdefault(name, options_of(entry["command"]))
    return sorted(found.items())


def precompile(clang, options, sources, folder):
    """The headers, precompiled for the sources that have these options."""
    names = STANDARD
    if any(source.startswith(ROOMS[2]) for source in sources):
        names += " " + BUILDER
    if any("/cli/" in source for source in sources):
        names += " " + COMMANDS
    header = pathlib.Path(folder, f"{abs(hash(options))}.hpp")
    header.write_text("".join(f"#include <{name}>\n" for name in names.split()), encoding="utf-8")
    subprocess.run([clang, *options, "-x", "c++-header", "-Xclang", "-fpch-instantiate-templates",
                    str(header), "-o", f"{header}.pch"], check=True)
    return ("-include-pch", f"{header}.pch")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    clang = find_clang()
    if clang is None:
        print("SKIP: there is no clang++")
        return 77
    sources = sources_of(build)
    if not sources:
        print(f"{build} compiles none of the product's sources")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        groups = collections.defaultdict(list)
        for name, options in sources:
            groups[options].append(name)
        precompiled = {options: precompile(clang, options, names, folder)
                       for options, names in groups.items() if len(names) > 3}

        def check(source):
            name, options = source
            return subprocess.run(
                [clang, *options, *precompiled.get(options, ()), "-w", "-fsyntax-only", name],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            failed = [done.stdout for done in pool.map(check, sources) if done.returncode != 0]
    print("".join(failed), end="")
    print(f"{len(sources)} sources, {len(failed)} do not compile alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

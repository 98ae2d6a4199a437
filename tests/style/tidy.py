#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy, by .clang-tidy, on the files of some folders that a build compiles.

    tidy.py BUILD FOLDER-OR-FILE...

BUILD has compile_commands.json. Exit codes: 0 no finding, 1 findings, 77 there is no clang-tidy.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from tracked import ROOT

# The commands are GCC's: what Clang does not know of them is not this check's matter.
EXTRA = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-error",
         "--extra-arg=-Wno-everything"]


def find_tidy():
    for name in ("clang-tidy-14", "clang-tidy", *(f"clang-tidy-{n}" for n in range(15, 21))):
        if shutil.which(name):
            return name
    return None


def commands_of(build):
    """The build's commands without precompiled headers: Clang reads none of GCC's, and so each
    file shows that it includes what it uses."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    for command in commands:
        command["command"] = re.sub(r" -include \S*cmake_pch\.hxx\b| -Winvalid-pch\b", "",
                                    command["command"])
    return commands


def files_of(commands, places):
    """Each file once: the runtime is compiled twice."""
    files = {pathlib.Path(command["directory"], command["file"]).resolve() for command in commands}
    wanted = [ROOT / place for place in places]
    return sorted(file for file in files
                  if any(place == file or place in file.parents for place in wanted))


def check(tidy, build, file):
    start = time.monotonic()
    done = subprocess.run([tidy, "--quiet", f"-p={build}", *EXTRA, str(file)], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    failed = done.returncode != 0
    return failed, done.stdout + (done.stderr if failed else ""), time.monotonic() - start


def main(build, *places):
    tidy = find_tidy()
    if tidy is None:
        print("SKIP: no clang-tidy here")
        return 77
    commands = commands_of(pathlib.Path(build).resolve())
    files = files_of(commands, places)
    failures, slowest = 0, []
    with tempfile.TemporaryDirectory() as database, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        pathlib.Path(database, "compile_commands.json").write_text(json.dumps(commands),
                                                                   encoding="utf-8")
        for file, (failed, text, seconds) in zip(
                files, pool.map(lambda file: check(tidy, database, file), files)):
            slowest.append((seconds, str(file.relative_to(ROOT))))
            failures += failed
            if failed:
                print(f"{file.relative_to(ROOT)}\n{text}")
    for seconds, name in sorted(slowest, reverse=True)[:3]:
        print(f"{seconds:5.1f} s  {name}")
    print(f"{len(files)} files, {failures} with findings")
    return 1 if failures or not files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else print(__doc__) or 2)

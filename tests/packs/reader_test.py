#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two readers of one text: reader.py and Kiln say the same of every golden pack.

    reader_test.py KILN

Exit codes: 0 passed, 1 failed, 77 no interpreter has what reader.py needs.
"""

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent.parent / "packs" / "golden"


def run(*command):
    """A command to its end."""
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)


def reader_module():
    """reader.py, by an interpreter that has Debian's modules."""
    system = "/usr/bin/python3"
    try:
        return importlib.import_module("reader")
    except ModuleNotFoundError:
        if Path(sys.executable).resolve() != Path(system).resolve() and Path(system).is_file():
            os.execv(system, [system, "-B", *sys.argv])
    print("SKIP: python3-xxhash and python3-zstandard are not here")
    sys.exit(77)


def differences(mine, kilns, place=""):
    """Where Kiln does not say what the second reader says; it may say more."""
    if isinstance(mine, dict) and isinstance(kilns, dict):
        return [text for key in mine
                for text in differences(mine[key], kilns.get(key), f"{place}/{key}")]
    if isinstance(mine, list) and isinstance(kilns, list) and len(mine) == len(kilns):
        return [text for i, each in enumerate(mine)
                for text in differences(each, kilns[i], f"{place}/{i}")]
    return [] if mine == kilns else [f"{place}: {mine!r}, and Kiln has {kilns!r}"]


def faults_of(kiln, reader, pack):
    """What is wrong, as sentences."""
    try:
        read, refused = reader.read(pack.read_bytes()), None
    except reader.Refused as why:
        read, refused = None, str(why)
    if pack.name.startswith(("good-", "untrusted-")):  # the latter to who has a key
        if refused:
            return [f"the second reader refuses it: {refused}"]
        return differences(read, json.loads(run(kiln, "inspect", pack, "--json").stdout))
    said = run(kiln, "verify", pack)
    word = re.search(r"\[(\w+)\]$", said.stderr.strip())
    if refused and said.returncode == 4 and word and word[1] == refused:
        return []
    return [f"refused as {refused}, and Kiln ends with {said.returncode}: {said.stderr}"]


def main(kiln):
    """The exit code."""
    reader = reader_module()
    packs = sorted(GOLDEN.glob("*.kiln"))
    table = (GOLDEN / "README.md").read_text(encoding="utf-8")
    faults = [f"{pack.name}: README.md does not have it" for pack in packs
              if f"`{pack.name}`" not in table]
    for pack in packs:
        faults += [f"{pack.name}: {fault}" for fault in faults_of(kiln, reader, pack)]
    for fault in faults:
        print(f"FAIL {fault}")
    print(f"{len(packs)} packs, {len(faults)} faults")
    return 1 if faults or not packs else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

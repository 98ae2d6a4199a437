#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two readers of one text: reader.py and Kiln say the same of every golden pack, and delta_reader.py
of every golden delta.

    reader_test.py KILN

Exit codes: 0 passed, 1 failed, 77 no interpreter has what reader.py needs.
"""

import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent.parent / "packs" / "golden"


def run(*command):
    """A command to its end."""
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)


def reader_modules():
    """reader.py and delta_reader.py, by an interpreter that has Debian's modules."""
    system = "/usr/bin/python3"
    try:
        return importlib.import_module("reader"), importlib.import_module("delta_reader")
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


def faults_of_delta(kiln, deltas, delta, table):
    """What is wrong with what both make of the golden pack by it, as sentences."""
    old = GOLDEN / "good-v1.kiln"
    with tempfile.TemporaryDirectory() as folder:
        mine, kilns = Path(folder) / "mine", Path(folder) / "kilns"
        said = run(kiln, "apply", old, delta, "-o", kilns)
        try:
            mine.write_bytes(deltas.apply(old.read_bytes(), delta.read_bytes()))
        except deltas.Refused as why:
            row = next((x for x in table.splitlines() if x.startswith(f"| `{delta.name}`")), "")
            if said.returncode == 4 and not kilns.exists() and row.endswith(f"| `{why}` |"):
                return []
            return [f"refused as {why}, and Kiln ends with {said.returncode}: {said.stderr}"]
        if delta.name.startswith("good-") and said.returncode == 0:
            return [] if mine.read_bytes() == kilns.read_bytes() else ["they make other packs"]
        return [f"not refused, and Kiln ends with {said.returncode}: {said.stderr}"]


def main(kiln):
    """The exit code."""
    reader, deltas = reader_modules()
    packs = sorted(GOLDEN.glob("*.kiln"))
    delta_files = sorted(GOLDEN.glob("*.kdelta"))
    table = (GOLDEN / "README.md").read_text(encoding="utf-8")
    faults = [f"{pack.name}: README.md does not have it" for pack in packs + delta_files
              if f"`{pack.name}`" not in table]
    for pack in packs:
        faults += [f"{pack.name}: {fault}" for fault in faults_of(kiln, reader, pack)]
    for delta in delta_files:
        faults += [f"{delta.name}: {fault}"
                   for fault in faults_of_delta(kiln, deltas, delta, table)]
    for fault in faults:
        print(f"FAIL {fault}")
    print(f"{len(packs)} packs, {len(delta_files)} deltas, {len(faults)} faults")
    return 1 if faults or not packs or not delta_files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two readers of one text: reader.py and Kiln say the same of every golden pack, and delta_reader.py
of every golden delta, and of each bad one that packs/golden/README.md has.

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
sys.path.append(str(HERE.parent / "cli"))
from damage import GOLDEN, bad_golden_packs  # noqa: E402


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


def faults_of(kiln, reader, pack, expected):
    """What is wrong, as sentences; `expected` is the fault that the pack has, or None."""
    try:
        read, refused = reader.read(pack.read_bytes()), None
    except reader.Refused as why:
        read, refused = None, str(why)
    if refused != expected:
        return [f"the second reader says {refused}, not {expected}"]
    if refused is None:
        return differences(read, json.loads(run(kiln, "pack", "inspect", pack, "--json").stdout))
    said = run(kiln, "pack", "verify", pack)
    word = re.search(r"\[(\w+)\]$", said.stderr.strip())
    if said.returncode == 4 and word and word[1] == refused:
        return []
    return [f"refused as {refused}, and Kiln ends with {said.returncode}: {said.stderr}"]


def faults_of_delta(kiln, deltas, delta, expected):
    """What is wrong with what both make of the golden pack by it, as sentences."""
    old = GOLDEN / "good-v1.kiln"
    kilns = delta.with_suffix(".made")
    said = run(kiln, "fleet", "delta", old, "--apply", delta, "-o", kilns)
    try:
        mine, refused = deltas.apply(old.read_bytes(), delta.read_bytes()), None
    except deltas.Refused as why:
        mine, refused = None, str(why)
    if refused != expected:
        return [f"the second reader says {refused}, not {expected}"]
    if said.returncode != (4 if refused else 0) or kilns.exists() == bool(refused):
        return [f"refused as {refused}, and Kiln ends with {said.returncode}: {said.stderr}"]
    return [] if refused or mine == kilns.read_bytes() else ["they make other packs"]


def main(kiln):
    """The exit code."""
    reader, deltas = reader_modules()
    table = (GOLDEN / "README.md").read_text(encoding="utf-8")
    good = {path.name: (path.read_bytes(), None) for path in sorted(GOLDEN.glob("good-*"))}
    faults = [f"{name}: README.md does not have it" for name in good if f"`{name}`" not in table]
    bad = bad_golden_packs()
    with tempfile.TemporaryDirectory() as folder:
        for name, (data, fault) in {**good, **bad}.items():
            file = Path(folder) / name
            file.write_bytes(data)
            if "delta" in name:
                said = faults_of_delta(kiln, deltas, file, fault)
            else:  # the second reader has no key: to it the untrusted packs are sound
                said = faults_of(kiln, reader, file, None if fault == "untrusted" else fault)
            faults += [f"{name}: {each}" for each in said]
    for fault in faults:
        print(f"FAIL {fault}")
    print(f"{len(good)} good, {len(bad)} bad packs and deltas, {len(faults)} faults")
    return 1 if faults or not good or not bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

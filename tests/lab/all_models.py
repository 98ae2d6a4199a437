#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a pack for every model of Mesa that a root can be, and prints a row for each.

The models are those that `kiln build --virtual mesa:` names. A root without a model's shim, or with
one that does not know the model, gives no row. The seconds are those of the whole build; the bytes
are the pack's, and those of the code for the GPU in it before compression.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NO_DEVICE = 5


def models_of(kiln):
    """The models, from the message about an unknown one."""
    done = subprocess.run([kiln, "build", "x", "--virtual", "mesa:?", "--dry-run"],
                          capture_output=True, text=True, check=False)
    return re.search(r"expected one of: ([^;\n]*)", done.stderr)[1].split(", ")


def row_of(kiln, base, model, work, environment):
    """What a build for the model gives; None if the root cannot be it."""
    pack = work / f"{model}.kiln"
    start = time.monotonic()
    done = subprocess.run([kiln, "build", base, "--virtual", f"mesa:{model}", "--store", "none",
                           "--json", "-o", pack], capture_output=True, text=True, check=False,
                          env=environment)
    seconds = time.monotonic() - start
    if done.returncode == NO_DEVICE:
        return None
    built = json.loads(done.stdout)
    told = subprocess.run([kiln, "pack", "inspect", pack, "--json"], capture_output=True, text=True,
                          check=True)
    binaries = [b for target in json.loads(told.stdout)["targets"] for b in target["binaries"]]
    code = sum((b.get("auxiliary") or {}).get("raw_size", 0) for b in binaries)
    return (model, built["compiled"], built["skipped"], len(built["failures"]), f"{seconds:.0f}",
            f"{pack.stat().st_size:,}", f"{code:,}")


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kiln", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True, help="pack by `kiln compile`")
    parser.add_argument("--root", type=Path, required=True, help="as KILN_MESA_ROOT")
    parser.add_argument("models", nargs="*", help="these alone")
    options = parser.parse_args()
    environment = dict(os.environ, KILN_MESA_ROOT=str(options.root.absolute()))
    print("| model | built | not for it | failed | seconds | pack's bytes | bytes of GPU code |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as work:
        for model in options.models or models_of(options.kiln):
            row = row_of(options.kiln.absolute(), options.base.absolute(), model, Path(work),
                         environment)
            if row:
                print(f"| {' | '.join(map(str, row))} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

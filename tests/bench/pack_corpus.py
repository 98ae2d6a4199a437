#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The corpus of `kiln-bench pack`: the case studies built on each device of the laboratory.

    pack_corpus.py KILN FOLDER [DEVICE ...]

Writes FOLDER/DEVICE.kiln for each device (by default all that are here and made for this
processor), and prints their paths. What is there already is kept.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LAB = ROOT / "tests" / "lab" / "lab.py"
SLOW = ("oclgrind", "pocl-3.1-aarch64", "pocl-3.1-khronos")  # or the same as another one


def run(*command):
    """A command; what it printed where it failed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)
    return None if done.returncode == 0 else done.stderr.strip() or done.stdout.strip()


def device_pack(kiln, folder, device):
    """The pack of a device; None where it cannot be made."""
    pack = folder / f"{device['id']}.kiln"
    if not pack.is_file():
        own = folder / device["id"]  # all that the device sees
        own.mkdir(exist_ok=True)
        for path in (kiln, kiln.with_name("libkiln_case_references.so"), folder / "base.kiln"):
            shutil.copy(path, own)
        why = run(sys.executable, LAB, "run", device["id"], "--dir", own, "--", "./kiln", "build",
                  "base.kiln", "--device", device["select"], "-o", "out.kiln")
        made = own / "out.kiln"
        if not made.is_file():
            print(f"SKIP {device['id']}: {(why or 'no pack').splitlines()[-1]}", file=sys.stderr)
            return None
        made.rename(pack)
        shutil.rmtree(own)
    return pack


def main(kiln, folder, *names):
    """The exit code."""
    kiln, folder = Path(kiln).resolve(), Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    why = run(kiln, "compile", ROOT / "manifests" / "case-studies.toml", "-o", folder / "base.kiln")
    if why:
        print(why, file=sys.stderr)
        return 1
    devices = json.loads((ROOT / "tests" / "lab" / "devices.json").read_text())["devices"]
    chosen = [each for each in devices
              if (each["id"] in names if names else each["id"] not in SLOW)]
    packs = [pack for pack in (device_pack(kiln, folder, each) for each in chosen) if pack]
    print("\n".join(map(str, packs)))
    return 0 if packs else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

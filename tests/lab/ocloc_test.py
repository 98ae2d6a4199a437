#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Binaries of `kiln build --virtual ocloc-22.43.toml:...` beside those of the driver as the same GPUs.

For each model the driver of this machine builds a base pack, told to be that GPU, and ocloc builds
it with no driver. Every binary must be the same, byte for byte, and the driver must load the
pack of ocloc's as exact.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

DRIVER = Path("/usr/lib/x86_64-linux-gnu/intel-opencl/libigdrcl.so")
# The driver as Tiger Lake takes stepping 0 unless told, which was never sold: there it adds a
# workaround to every program, which ocloc for tgllp leaves out.
MODELS = {"skl": {}, "tgllp": {"OverrideRevision": "1"}, "dg2": {}}
SKIP = 77


def run(command, **more):
    """The output of a command; ends the test where it fails."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            check=False, **more)
    if result.returncode:
        sys.exit(f"FAILED: {' '.join(map(str, command))}: {result.returncode}\n"
                 f"{result.stdout[-2000:]}{result.stderr[-2000:]}")
    return result.stdout


def as_model(model, work):
    """The environment in which the driver is that GPU, and no other driver is there."""
    vendors = work / "vendors"
    vendors.mkdir(exist_ok=True)
    (vendors / "intel.icd").write_text(f"{DRIVER}\n", encoding="utf-8")
    return dict(os.environ, OCL_ICD_VENDORS=str(vendors), NEOReadDebugKeys="1",
                SetCommandStreamReceiver="1", ProductFamilyOverride=model, **MODELS[model])


def binaries(kiln, pack, work):
    """The binaries of a pack with one target, by program and variant."""
    folder = work / (pack.stem + "-files")
    shutil.rmtree(folder, ignore_errors=True)
    run([kiln, "pack", "inspect", pack, "--extract", folder])
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    return {f"{v['program']}/{v['variant']}": (folder / v["binaries"][0]["file"]).read_bytes()
            for v in index["variants"] if v["binaries"]}


def compare(kiln, base, model, work):
    """Faults of one model."""
    driver, without = work / f"{model}.kiln", work / f"{model}-ocloc.kiln"
    environment = as_model(model, work)
    build = [kiln, "build", base, "--preferred", "--fresh", "-o"]
    run([*build, driver], env=environment, cwd=work)
    run([*build, without, "--virtual", f"ocloc-22.43.toml:{model}"],
        env=dict(os.environ, OCL_ICD_VENDORS="/nonexistent"), cwd=work)
    theirs, ours = binaries(kiln, driver, work), binaries(kiln, without, work)
    # As dg2 the driver reports work-groups of no work-item, and prefers other variants.
    both = [name for name in theirs if name in ours]
    faults = [f"{model}: {name} differs from the driver's" for name in both
              if ours[name] != theirs[name]]
    if 2 * len(both) < len(theirs):
        faults.append(f"{model}: of {len(theirs)} binaries only {len(both)} were compared")
    report = json.loads(run([kiln, "explain", "--pack", without, "--json", "laplace"],
                            env=environment, cwd=work))
    if report["rung"] != "exact" or report["recompiled"]:
        faults.append(f"{model}: the driver loads the pack of ocloc's by the rung {report['rung']}")
    for trace in work.glob("*.aub"):
        trace.unlink()
    print(f"{model}: {len(both)} binaries compared, {len(faults)} faults", flush=True)
    return faults


def main():
    """Compares each model; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kiln", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    arguments = parser.parse_args()
    for what, there in (("Intel's driver", DRIVER.exists()), ("ocloc", shutil.which("ocloc"))):
        if not there:
            print(f"SKIP: {what} is not installed")
            return SKIP
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    kiln, base, work = (path.absolute() for path in (arguments.kiln, arguments.base,
                                                     arguments.work))
    faults = [fault for model in MODELS for fault in compare(kiln, base, model, work)]
    print("\n".join(faults) or "every binary is the driver's, byte for byte")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

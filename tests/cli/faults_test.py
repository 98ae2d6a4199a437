#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A build of 60 jobs with 20 faults: 40 binaries, and each fault by its name.

    faults_test.py KILN TEST-DRIVER

TEST-DRIVER is the scripted driver, with PoCL behind it. Exit codes: 0 passed, 1 failed, 77 a driver
or a tool is not installed.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import scripted

KILN, DRIVER = sys.argv[1:3]
JOBS = 60
# What happens in which call, how often, and what the build says of the job.
FAULTS = [
    ("segv", "clBuildProgram", 'do = "segv"', 3, r"crashed with signal 11"),
    ("abort", "clBuildProgram", 'do = "abort"', 3, r"crashed with signal 6"),
    ("exit", "clBuildProgram", 'do = "exit"', 3, r"the driver ended the process with code 1"),
    ("hang", "clBuildProgram", 'do = "hang"', 2, r"gave no answer in time and was killed"),
    ("hoard", "clBuildProgram", 'do = "hoard"', 1, r"took more memory than it may and was killed"),
    ("garbage", "clGetProgramInfo", 'do = "wrong_size"\nform = "source"\nsize = 64', 2,
     r"loading and launching the new binary: .*CL_INVALID_BINARY"),
    ("recompile", "clCreateProgramWithBinary", 'do = "recompile"', 3, r"the driver compiled it anew"),
    ("wrong", "clEnqueueNDRangeKernel", 'do = "skip"\nform = "binary"', 3,
     r"its results are wrong: [0-9a-f]{16} instead of [0-9a-f]{16}, which the program built from "
     r"source, 64x64 gives; \d+ of 4096 elements differ"),
]


def words():
    """Of each job the fault that it meets; empty: none. Spread over the build."""
    faulty = [name for name, _, _, count, _ in FAULTS for _ in range(count)]
    assert len(faulty) == 20
    all_words = [""] * JOBS
    for i, name in enumerate(faulty):
        all_words[7 + i * 5 // 2] = name
    return all_words


def write_project(folder):
    """Manifest, sources and the driver's script; the variables for builds."""
    manifest = ["schema = 1", "[spirv]", "address_bits = [64]"]
    for i, word in enumerate(words()):
        name = f"p{i:03}"
        marker = f"kiln_test_{word or 'good'}"
        (folder / f"{name}.cl").write_text(
            f"kernel void fill(global uchar *out, uint width) {{\n"
            f"  uint {marker} = get_global_id(1) * width + get_global_id(0);\n"
            f"  out[{marker}] = (uchar)({marker} + {i + 1});\n}}\n")
        manifest += [f"[program.{name}]", f'source = "{name}.cl"',
                     'arguments = [{ role = "output" }, { role = "width" }]',
                     f'[program.{name}.variant.only]', 'kernel = "fill"']
    (folder / "many.toml").write_text("\n".join(manifest) + "\n")
    script = scripted.DEVICE
    for name, call, what, _, _ in FAULTS:
        script += f'[[fault]]\nat = "{call}"\ntext = "kiln_test_{name}"\n{what}\n'
    return {**scripted.use(folder, DRIVER, script), "KILN_STORE": "none"}


def build(folder, environment):
    return subprocess.run(
        [KILN, "build", "many.toml", "-o", "out.kiln", "--timeout", "10", "--memory", "2G",
         "--no-finish", "--require-proof", "--json"],
        cwd=folder, env=environment, capture_output=True, text=True, check=False)


def check(done, folder):
    """A list of what is not as it should be."""
    if done.returncode != 1:
        return [f"exit {done.returncode}: {done.stderr}"]
    summary = json.loads(done.stdout)
    faults = []
    if summary["compiled"] != JOBS - 20:
        faults.append(f"{summary['compiled']} compiled")
    said = {re.match(r"p(\d+)/", f["job"]).group(1): f["error"] for f in summary["failures"]}
    expected = {f"{i:03}": word for i, word in enumerate(words()) if word}
    if said.keys() != expected.keys():
        faults.append(f"failed: {sorted(said)}, not {sorted(expected)}")
    patterns = {name: pattern for name, _, _, _, pattern in FAULTS}
    faults += [f"p{job} ({word}): {said[job]}" for job, word in expected.items()
               if job in said and not re.search(patterns[word], said[job])]
    shown = subprocess.run([KILN, "pack", "inspect", "out.kiln", "--json"], cwd=folder, check=True,
                           stdout=subprocess.PIPE).stdout
    binaries = json.loads(shown)["targets"][0]["binaries"]
    proofs = {binary["provenance"]["finish"]["proof"] for binary in binaries}
    if len(binaries) != JOBS - 20 or proofs != {"the program built from source, 64x64"}:
        faults.append(f"{len(binaries)} binaries, proofs {proofs}")
    return faults


def main():
    scripted.need("libpocl.so.2")
    with tempfile.TemporaryDirectory(prefix="kiln-faults-") as temporary:
        folder = Path(temporary)
        done = build(folder, write_project(folder))
        if done.returncode == 5 and "clang" in done.stderr:
            scripted.skip(done.stderr.strip())
        faults = check(done, folder)
    for fault in faults:
        print(f"FAULT: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

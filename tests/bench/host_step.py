#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the host step costs: `kiln compile` of generated programs.

    host_step.py KILN [--programs N] [--rounds N]

Each program is a source with four kernels, which includes a header of all programs and one that ten
programs share. Prints medians, each from its own empty store: compiling with one job and with one for
each CPU; again with nothing changed; with one shared header changed, of which ten programs are
compiled. And a build of all by CMake and Ninja with nothing to do, beside a project without Kiln. All
packs of the same sources must be the same. Exit codes: 0 done, 1 a run failed or gave another pack.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SHARED_BY = 10  # programs to a header


def write_sources(folder, count):
    """Writes the programs; the sources' paths."""
    (folder / "common.h").write_text("#define SCALE 1.5f\n", encoding="utf-8")
    sources = []
    for i in range(count):
        header = f"part{i // SHARED_BY}.h"
        (folder / header).write_text("#define STEP 1.0f\n", encoding="utf-8")
        kernels = [f"kernel void k{j}(global float *x, float a) {{\n"
                   f"  const size_t i = get_global_id(0);\n"
                   f"  for (int n = 0; n < {j + 3}; ++n) x[i] = mad(x[i], a, STEP * SCALE) + {i}.0f;\n"
                   "}\n" for j in range(4)]
        source = folder / f"program{i:04}.cl"
        source.write_text(f'#include "common.h"\n#include "{header}"\n' + "".join(kernels),
                          encoding="utf-8")
        sources.append(source)
    return sources


def seconds(*command, **options):
    """Seconds that the command takes; the bench ends if it fails."""
    start = time.monotonic()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, **options)
    if done.returncode != 0:
        raise SystemExit(f"FAIL {command[:4]}: exit code {done.returncode}\n{done.stdout}"
                         f"{done.stderr}")
    return time.monotonic() - start


def project(folder, text):
    """A configured and built CMake project; its build folder."""
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(bench LANGUAGES C CXX)\n" + text,
        encoding="utf-8")
    build = folder / "build"
    seconds("cmake", "-S", folder, "-B", build, "-G", "Ninja")
    seconds("ninja", "-C", build)
    return build


def measure(kiln, folder, count, rounds):
    """Rows of the table."""
    sources = write_sources(folder, count)
    jobs = os.cpu_count()
    times = {}
    packs = set()

    def take(row, *options):
        pack = folder / "out.kiln"
        took = seconds(kiln, "compile", *sources, "-o", pack, "--store", folder / "store", *options)
        times.setdefault(row, []).append(took)
        return pack.read_bytes()

    for number in range(rounds):
        for row, options in ((f"-j{jobs}", ()), ("-j1", ("-j1",))):
            for file in folder.glob("store*"):
                file.unlink()
            packs.add(take(row, *options))
        packs.add(take("nothing changed"))
        (folder / "part0.h").write_text(f"#define STEP {number + 2}.0f\n", encoding="utf-8")
        take(f"one header changed, of {SHARED_BY} programs")
        (folder / "part0.h").write_text("#define STEP 1.0f\n", encoding="utf-8")
    if len(packs) != 1:
        raise SystemExit("FAIL: the same sources gave different packs")
    environment = {**os.environ, "KILN_STORE": str(folder / "store")}
    os.environ.update(environment)
    listed = "\n  ".join(f'"{source}"' for source in sources)
    own = project(folder / "own", f'set(KILN_HOST_TOOL "{kiln}")\n'
                  f'include("{Path(__file__).resolve().parents[2]}/cmake/KilnHostTool.cmake")\n'
                  f'include("{Path(__file__).resolve().parents[2]}/cmake/KilnAddPack.cmake")\n'
                  f"kiln_add_pack(kernels SOURCES\n  {listed})\n")
    none = project(folder / "none", "add_custom_target(nothing ALL)\n")
    for _ in range(rounds * 5):
        times.setdefault("Ninja, nothing to do", []).append(seconds("ninja", "-C", own))
        times.setdefault("Ninja, an empty project", []).append(seconds("ninja", "-C", none))
    return [f"| {row} | {1000 * statistics.median(values):,.0f} |" for row, values in times.items()]


def main():
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kiln")
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        rows = measure(os.path.abspath(arguments.kiln), folder, arguments.programs,
                       arguments.rounds)
    finally:
        shutil.rmtree(folder)
    print(f"| {arguments.programs} programs | ms |\n| --- | ---: |\n" + "\n".join(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an overlay costs at the first start, and gives at the second.

    first_start.py KILN [--rounds N] [--programs DIR] [--keep-caches] [NAME[=COMMAND]...]

NAME is one of APPLICATIONS: other people's libraries, some with a program of ours that is compiled
here (`c++` and the library's headers have to be installed) or lies in DIR, from another machine.
COMMAND starts any other application, in an empty folder: NAME is what the table calls it.
OCL_ICD_VENDORS chooses the driver.

Each round has empty homes and driver caches, and runs in turns: the application alone; with a new
overlay, which the background process would fill when it has ended; the build that this process
makes (by hand, so that its end is seen); the second start; and a start with a pack. Every run prints
the same, or the bench fails. Prints medians, and medians of the ratios within the rounds: of whole
runs, from start to exit. The build is compared with `kiln build -j1` of the recorded programs.

With --keep-caches, the second start has the driver caches that the first one filled, as in ordinary
life: it shows what users wait for, but not what Kiln alone saves. Without Kiln, the median of a second
start with its caches is printed, too.

Exit codes: 0 done, 1 a run failed or printed something else, 77 nothing of it is here.
"""

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "layer" / "applications"


def compiled(source, *libraries):
    """Returns a function that compiles a program of ours in a folder; its command, or nothing."""
    def command(folder):
        program = folder / Path(source).stem
        if program.is_file():
            return [program]
        done = subprocess.run(["c++", "-O1", "-w", "-DCL_TARGET_OPENCL_VERSION=120",
                               HERE / source, "-o", program, *libraries, "-lOpenCL"],
                              capture_output=True, check=False)
        return [program] if done.returncode == 0 else None
    return command


def python(source, module):
    """The same for a script of the system's interpreter."""
    def command(_):
        here = subprocess.run(["/usr/bin/python3", "-c", f"import {module}"], capture_output=True,
                              check=False).returncode == 0
        return ["/usr/bin/python3", "-B", HERE / source] if here else None
    return command


APPLICATIONS = {
    "Boost.Compute": compiled("boost_compute.cpp"),
    "ViennaCL": compiled("viennacl.cpp"),
    "clFFT": compiled("clfft.c", "-lclFFT"),
    "CLBlast": compiled("clblast.c", "-lclblast"),
    "silx": python("silx_filters.py", "silx.opencl"),
    "PyOpenCL": python("pyopencl_pipeline.py", "pyopencl"),
    "OpenCV": python("opencv_filters.py", "cv2"),
}


class Runs:
    """Runs in homes of their own."""

    def __init__(self, folder):
        self.folder = folder
        self.homes = 0
        self.output = None

    def home(self):
        """A new, empty home."""
        self.homes += 1
        home = self.folder / f"home-{self.homes}"
        home.mkdir()
        return home

    def run(self, *command, says=True, home=None):
        """Seconds of a run; what the application says is always the same."""
        home = home or self.home()
        environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home),
                       "POCL_CACHE_DIR": str(home / "pocl"), "MESA_SHADER_CACHE_DIR": str(home),
                       "CUDA_CACHE_PATH": str(home / "cuda"), "PYOPENCL_CTX": "0",
                       "PYOPENCL_NO_CACHE": "1", "OPENCV_OPENCL_DEVICE": ":CPU:0",
                       "KILN_PACK_PATH": "", "KILN_BACKGROUND": "0", "KILN_STORE": "none"}
        start = time.monotonic()
        done = subprocess.run([str(word) for word in command], cwd=home, env=environment,
                              capture_output=True, text=True, check=False)
        seconds = time.monotonic() - start
        if done.returncode != 0:
            raise SystemExit(f"FAIL {command}: exit code {done.returncode}\n{done.stdout}"
                             f"{done.stderr}")
        if says:
            self.output = self.output or done.stdout
            if done.stdout != self.output:
                raise SystemExit(f"FAIL {command} prints {done.stdout!r}, not {self.output!r}")
        return seconds


def measure(name, kiln, rounds, programs, keep_caches):
    """A row of the table, or nothing where the application is not here."""
    name, _, other = name.partition("=")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        command = shlex.split(other) or APPLICATIONS[name](Path(programs or place))
        if command is None:
            return None
        runs = Runs(folder)
        serve = (kiln, "serve")
        spool, base = folder / "spool", folder / "base.kiln"
        runs.run(kiln, "record", "-o", spool, "--", *command)
        runs.run(kiln, "compile", spool, "-o", base, says=False)
        times = {what: [] for what in ("bare", "warm", "first", "second", "pack", "background",
                                   "build")}
        for number in range(rounds):
            overlay = folder / f"overlay-{number}"
            built = folder / f"app-{number}.kiln"
            own, home = runs.home(), runs.home()
            served = (*serve, "--overlay", overlay, "--", *command)
            times["bare"].append(runs.run(*command, home=own))
            times["first"].append(runs.run(*served, home=home))
            times["background"].append(
                runs.run(kiln, "overlay", "build", overlay, "-j1", says=False))
            times["build"].append(runs.run(kiln, "build", base, "-j1", "-o", built, says=False))
            # Right after a build, NVIDIA's driver starts slower for some time.
            times["warm"].append(runs.run(*command, home=own))
            times["second"].append(runs.run(*served, home=home if keep_caches else None))
            times["pack"].append(runs.run(*serve, "--pack", built, "--", *command))
    def ratio(a, b):
        return statistics.median(x / y for x, y in zip(times[a], times[b]))
    middle = {what: statistics.median(values) for what, values in times.items()}
    warm = f" ({middle['warm']:.2f} warm)" if keep_caches else ""
    return (f"| {name} | {middle['bare']:.2f}{warm} | {middle['first']:.2f} | "
            f"{ratio('first', 'bare'):.2f}"
            f" | {middle['second']:.2f} | {middle['pack']:.2f} | {ratio('second', 'pack'):.2f} | "
            f"{middle['background']:.1f} | {ratio('background', 'build'):.2f} |")


def main():
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kiln")
    parser.add_argument("names", nargs="*", default=list(APPLICATIONS), metavar="NAME[=COMMAND]")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep-caches", action="store_true")
    parser.add_argument("--programs", metavar="DIR", type=os.path.abspath)
    arguments = parser.parse_intermixed_args()
    kiln = os.path.abspath(arguments.kiln)
    rows = []
    for name in arguments.names:
        row = measure(name, kiln, arguments.rounds, arguments.programs,
                      arguments.keep_caches)
        if row is None:
            print(f"{name} is not here", file=sys.stderr)
            continue
        rows.append(row)
        print(row, file=sys.stderr)
    if not rows:
        return 77
    print("| application | alone, s | first start, s | first/alone | second, s | with a pack, s "
          "| second/pack | background, s | background/build |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    print("\n".join(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())

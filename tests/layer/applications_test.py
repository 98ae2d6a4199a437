#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Applications that were not written for Kiln: recorded, built and served.

    applications_test.py [--overlay] NAME KILN [PROGRAM]

NAME is one of APPLICATIONS; PROGRAM is the one of applications/clblast.c; kiln_bare_loads is beside
KILN. --overlay looks at the second of two starts that have an overlay alone, too, takes the median
of five served starts and of five of the bare loads, in turns, and lets PoCL optimise, so that times
are a user's; without it PoCL does not, since what is looked at is what the application prints and
where its programs come from. OCL_ICD_VENDORS chooses the driver. Every run has a home of its own, so that nothing but Kiln's files can be warm; the run
without Kiln alone may use what the driver kept of the recording, since its time is not looked at.

Prints how long programs took to be built as recorded, as served, and where the driver is given the
same bytes by a program that does nothing else, and the whole runs. Exit codes: 0 passed, 1 failed, 77 the application is not here.
"""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent / "applications"
PHOTO = HERE.parent.parent / "data" / "raccoon.png"
# Debian's packages are the system's interpreter's.
PYTHONS = (sys.executable, "/usr/bin/python3")


def executable(name, *arguments):
    """A command by its path, or nothing."""
    found = shutil.which(name)
    return [found, *arguments] if found else None


def interpreter(module):
    """The interpreter that has the module, or nothing."""
    for python in PYTHONS:
        command = [python, "-c", f"import {module}"]
        if Path(python).is_file() and subprocess.run(command, capture_output=True,
                                                     check=False).returncode == 0:
            return python
    return None


def script(name, module):
    """A script for that interpreter, or nothing."""
    python = interpreter(module)
    return [python, "-B", HERE / name] if python else None


def picture(command, *options):
    """ffmpeg's picture through a filter, as bytes in the file `out`."""
    return executable(
        command, "-nostdin", "-v", "error", "-init_hw_device", "opencl=device:0.0",
        "-filter_hw_device", "device", "-i", PHOTO, *options, "-f", "rawvideo", "-y", "out")


def darktable(*programs):
    """darktable's picture, as floats in the file `out.pfm`; with these of its programs, or all."""
    test = executable("darktable-cltest")
    if test is None or executable("darktable-cli") is None:
        return None
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home,
                       "XDG_CACHE_HOME": home}
        said = subprocess.run(test, env=environment, capture_output=True, text=True, check=False)
    device = re.search(r"CANONICAL NAME: *(\S+)", said.stdout)
    if device is None:
        raise SystemExit(f"FAIL darktable finds no device:\n{said.stdout}{said.stderr}")
    return [sys.executable, "-B", HERE / "darktable.py", device[1], PHOTO, *programs]


def on_the_device(text):
    """darktable's steps, each of which must have been made with OpenCL."""
    steps = re.findall(r"processed `(.*?)' on (\w+)", text)
    if not steps or any(where != "GPU" for _, where in steps):
        raise SystemExit(f"FAIL darktable computed without OpenCL:\n{text}")
    return steps


def without_numbers(text):
    """What is measured differs from run to run."""
    return re.sub(r"[0-9.]+", "N", text)


# Name: command, or nothing where it is not here; what is compared of its output.
APPLICATIONS = {
    "pyopencl": lambda program: (script("pyopencl_pipeline.py", "pyopencl"), str),
    "opencv": lambda program: (script("opencv_filters.py", "cv2"), str),
    "clblast": lambda program: ([program] if program else None, str),
    # A word of four letters by its MD5 digest.
    "hashcat": lambda program: (executable(
        "hashcat", "-m", "0", "-a", "3", "-D", "1", "--force", "--quiet", "--potfile-disable",
        "--session", "kiln", "098f6bcd4621d373cade4e832627b4f6", "?l?l?l?l"), str),
    "clpeak": lambda program: (executable("clpeak", "--kernel-latency"),
                               without_numbers),
    "clinfo": lambda program: (executable("clinfo", "--raw"), str),
    "ffmpeg": lambda program: (picture(
        "ffmpeg", "-vf", "format=rgba,hwupload,avgblur_opencl=sizeX=3,unsharp_opencl,"
        "hwdownload,format=rgba"), str),
    # With the programs that the picture's steps need, and with all, which takes minutes.
    "darktable": lambda program: (darktable(
        "basic.cl", "sharpen.cl", "soften.cl", "colorspaces.cl"), on_the_device),
    "darktable-whole": lambda program: (darktable(), on_the_device),
}


ROUNDS = 5  # where times are a user's
# PoCL's compiler takes a fifth of the time for hashcat's programs, and the same way to it.
UNOPTIMISED = {"POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}


class Runs:
    """Runs of one application, each in a home of its own below one folder."""

    def __init__(self, folder, variables):
        self.folder = Path(folder)
        self.variables = variables
        self.homes = 0

    def run(self, command, cache=None):
        """Output, what it wrote to the file `out` of any kind, and seconds."""
        self.homes += 1
        home = self.folder / f"home-{self.homes}"
        home.mkdir()
        environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home),
                       "XDG_DATA_HOME": str(home), "XDG_CONFIG_HOME": str(home),
                       "POCL_CACHE_DIR": str(cache or home / "pocl"), "PYOPENCL_CTX": "0",
                       "PYOPENCL_NO_CACHE": "1", "OPENCV_OPENCL_DEVICE": ":CPU:0",
                       "KILN_PACK_PATH": "", "KILN_BACKGROUND": "0", **self.variables}
        start = time.monotonic()
        done = subprocess.run([str(word) for word in command], cwd=home, env=environment,
                              capture_output=True, text=True, check=False)
        seconds = time.monotonic() - start
        if done.returncode != 0:
            raise SystemExit(f"FAIL {command}: exit code {done.returncode}\n"
                             f"{done.stdout}{done.stderr}")
        out = b"".join(path.read_bytes() for path in home.glob("out*"))
        return done.stdout, out, seconds

    def lines(self, name):
        """The lines of a report."""
        text = (self.folder / name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines() if '"program"' in line]


def building(lines):
    """Milliseconds that the application waited for its programs."""
    return sum(line["milliseconds"] for line in lines)


def serve(runs, kiln, pack, command, rounds):
    """What the last run gave, its report's lines, and the medians of the milliseconds that programs
    took when served, and that the driver takes for the binaries of the pack, of each once."""
    served, loads = [], []
    runs.run([kiln, "pack", "inspect", pack, "--extract", runs.folder / "out"])
    files = sorted((runs.folder / "out").glob("*/*.bin"))
    for _ in range(rounds):
        (runs.folder / "served").unlink(missing_ok=True)
        done = runs.run([kiln, "serve", "--pack", pack, "--report",
                         runs.folder / "served", "--", *command])
        served.append(building(runs.lines("served")))
        loads.append(float(runs.run([Path(kiln).parent / "kiln_bare_loads", *files])[0]))
    return done, runs.lines("served"), statistics.median(served), statistics.median(loads)


def second_start(runs, kiln, command):
    """The second of two starts that have an overlay alone."""
    for report in ("first", "second"):
        done = runs.run([kiln, "serve", "--overlay", runs.folder / "overlay",
                         "--report", runs.folder / report, "--", *command])
        runs.run([kiln, "overlay", "build", runs.folder / "overlay"])
    return done


def check(name, kiln, program, overlay=False):
    """Records, builds and serves; whether it went as it should."""
    command, compared = APPLICATIONS[name](program)
    if command is None:
        print(f"SKIP: {name} is not here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(folder, {} if overlay else UNOPTIMISED)
        spool, base, pack = (runs.folder / part for part in ("spool", "base.kiln", "app.kiln"))
        report = runs.folder / "recorded"
        recorded = runs.run([kiln, "record", "-o", spool, "--report", report,
                             "--", *command])
        bare = runs.run(command, cache=runs.folder / "home-1" / "pocl")
        runs.run([kiln, "compile", spool, "-o", base])
        runs.run([kiln, "build", base, "-o", pack])
        source = runs.lines("recorded")
        served, lines, milliseconds, loads = serve(runs, kiln, pack, command,
                                                   ROUNDS if overlay else 1)
        outcomes = [("recorded", recorded), ("served", served)]
        if overlay:
            kept = second_start(runs, kiln, command)
            outcomes.append(("from the overlay", kept))
            print(f"{name}: with an overlay alone programs were there in "
                  f"{building(runs.lines('second')):.1f} ms at the second start, the whole run "
                  f"{kept[2]:.1f} s")
    faults = []
    for what, run in outcomes:
        if compared(run[0]) != compared(bare[0]) or run[1] != bare[1]:
            faults.append(f"{what} it prints {run[0]!r}, and alone {bare[0]!r}")
    if not lines:
        faults.append("it built no program")
    faults += [f"not served: {line}" for line in lines
               if (line["outcome"], line["rung"]) != ("served", "exact")]
    print(f"{name}: {len(lines)} programs, built in {building(source):.0f} ms, served in "
          f"{milliseconds:.1f} ms, loaded alone in {loads:.1f} ms; the whole run "
          f"{recorded[2]:.1f} s, served {served[2]:.1f} s")
    for fault in faults:
        print(f"FAIL {fault}")
    return 1 if faults else 0


def main(words):
    """The exit code."""
    overlay = words[:1] == ["--overlay"]
    name, kiln, *program = words[1:] if overlay else words
    return check(name, os.path.abspath(kiln),
                 os.path.abspath(program[0]) if program and program[0] else None, overlay)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Applications' own caches, written by kiln cache export and read by kiln cache harvest.

    caches_test.py NAME KILN LAYER

NAME is one of APPLICATIONS. OCL_ICD_VENDORS chooses the driver. The application runs alone and fills
a cache; without one it is recorded, and its programs are built and exported. With what was exported
it runs alone again: it must print the same and change no file. That it compiles nothing is seen when
it runs so under the layer that only records, which tells of every program from source; with an empty
cache it tells of all of them. What the application cached itself is harvested and serves it.
Prints how long the whole runs took.

Exit codes: 0 passed, 1 failed, 77 the application is not here.
"""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from applications_test import UNOPTIMISED, script

NAME = sys.argv[1]
KILN, LAYER = (os.path.abspath(path) for path in sys.argv[2:4])
ZERO = b"\0"


class OpenCV:
    """Its cache is the folder that it is told."""

    command = script("opencv_filters.py", "cv2")
    without_cache = {"OPENCV_OPENCL_CACHE_ENABLE": "0"}

    @staticmethod
    def with_cache(cache):
        return {"OPENCV_OPENCL_CACHE_DIR": str(cache)}

    @staticmethod
    def folder(cache):
        return cache

    @staticmethod
    def options(own):
        return ["--learn", own]

    @staticmethod
    def harvest_options():
        return []

    @classmethod
    def is_here(cls):
        return cls.command is not None

    @staticmethod
    def damage(folder):
        """Zeros for one binary: behind hash, table, header and options."""
        file = next(folder.glob("*/*threshold*.bin"))
        data = bytearray(file.read_bytes())
        _, options, binary = struct.unpack_from("<III", data, 296)
        start = 296 + 12 + options
        data[start:start + binary] = ZERO * binary
        file.write_bytes(data)


class PyOpenCL:
    """The name of its folder has the version of Python in it."""

    command = script("pyopencl_pipeline.py", "pyopencl")
    without_cache = {"PYOPENCL_NO_CACHE": "1"}

    @classmethod
    def ask(cls, expression):
        """What it is for PyOpenCL's interpreter."""
        code = f"import sys, pathlib, pyopencl; print({expression})"
        return subprocess.run([cls.command[0], "-c", code], capture_output=True, text=True,
                              check=True).stdout.strip()

    @staticmethod
    def with_cache(cache):
        return {"XDG_CACHE_HOME": str(cache)}

    @classmethod
    def folder(cls, cache):
        version = cls.ask("'.'.join(map(str, sys.version_info))")
        return cache / "pyopencl" / f"pyopencl-compiler-cache-v2-py{version}"

    @classmethod
    def options(cls, own):
        return ["--learn", cls.folder(own), *cls.harvest_options()]

    @classmethod
    def harvest_options(cls):
        return ["--include", cls.ask("pathlib.Path(pyopencl.__file__).parent / 'cl'")]

    @classmethod
    def is_here(cls):
        """The version is in its keys."""
        return cls.command is not None and cls.ask("pyopencl.VERSION_TEXT") == "2022.3.1"

    @staticmethod
    def damage(folder):
        """Zeros for one binary."""
        file = sorted(folder.glob("*/binary"))[0]
        file.write_bytes(ZERO * file.stat().st_size)


APPLICATIONS = {"opencv": OpenCV, "pyopencl": PyOpenCL}


def files_of(folder):
    """Bytes and time of every file but locks."""
    return {str(file.relative_to(folder)): (file.read_bytes(), file.stat().st_mtime_ns)
            for file in sorted(folder.rglob("*"))
            if file.is_file() and not file.name.endswith("lock")}


class Caches(unittest.TestCase):
    """The pack of one application, made once, and runs of it."""

    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.place = Path(place.name)
        cls.application = APPLICATIONS[NAME]
        cls.homes = 0
        cls.own = cls.new_cache()
        # Of the first start, for those where all is the driver's, too.
        cls.drivers = {"POCL_CACHE_DIR": str(cls.place / "home-1" / "pocl")}
        start = time.monotonic()
        cls.output = cls.start(cls.application.with_cache(cls.own))
        cls.seconds = time.monotonic() - start
        report = cls.place / "recorded"
        cls.start({**cls.application.without_cache, **cls.drivers}, "record", "-o",
                  cls.place / "spool", "--report", report)
        cls.programs = report.read_text(encoding="utf-8").count('"program"')
        cls.base, cls.pack = cls.place / "base.kiln", cls.place / "app.kiln"
        cls.kiln("compile", cls.place / "spool", "-o", cls.base)
        cls.kiln("build", cls.base, "-o", cls.pack)

    @classmethod
    def new_cache(cls):
        """An empty cache."""
        return Path(tempfile.mkdtemp(dir=cls.place))

    @classmethod
    def run_in_home(cls, command, environment):
        """A finished process, with a home and driver caches of its own."""
        cls.homes += 1
        home = cls.place / f"home-{cls.homes}"
        home.mkdir()
        return subprocess.run(
            [str(word) for word in command], cwd=home, capture_output=True, text=True, check=False,
            env={**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home),
                 "POCL_CACHE_DIR": str(home / "pocl"), "PYOPENCL_CTX": "0",
                 "OPENCV_OPENCL_DEVICE": ":CPU:0", "KILN_PACK_PATH": "", "KILN_BACKGROUND": "0", **UNOPTIMISED,
                 **environment})

    @classmethod
    def kiln(cls, *words, exit_code=0):
        """What a command printed to both."""
        done = cls.run_in_home([KILN, *words], {})
        if done.returncode != exit_code:
            raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    @classmethod
    def start(cls, environment, *layer):
        """What the application prints: alone, or under kiln's layer."""
        under = [KILN, layer[0], "--layer", LAYER, *layer[1:], "--"] if layer else []
        done = cls.run_in_home([*under, *cls.application.command], environment)
        if done.returncode != 0:
            raise AssertionError(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def built_from_source(self, cache):
        """How many programs the application builds from source with that cache."""
        report = self.new_cache() / "report"
        output = self.start({**self.application.with_cache(cache), **self.drivers}, "record", "-o",
                            self.new_cache() / "spool", "--report", report)
        self.assertEqual(output, self.output)
        return report.read_text(encoding="utf-8").count('"program"') if report.exists() else 0

    def exported(self):
        """A cache with what the pack has."""
        cache = self.new_cache()
        self.kiln("cache", "export", "--as", NAME, self.pack, self.application.folder(cache),
                  *self.application.options(self.own))
        return cache

    def test_with_the_exported_cache_it_compiles_nothing_and_changes_nothing(self):
        cache = self.exported()
        folder = self.application.folder(cache)
        before = files_of(folder)
        self.assertGreater(len(before), 0)
        start = time.monotonic()
        self.assertEqual(self.start(self.application.with_cache(cache)), self.output)
        print(f"{NAME}: {self.programs} programs; the whole run {self.seconds:.1f} s, with the "
              f"exported cache {time.monotonic() - start:.1f} s")
        self.assertEqual(files_of(folder), before)
        self.assertEqual(self.built_from_source(cache), 0)
        self.assertEqual(files_of(folder), before)

    def test_with_an_empty_cache_it_compiles_everything_and_fills_it(self):
        cache = self.new_cache()
        self.assertEqual(self.built_from_source(cache), self.programs)
        self.assertGreater(len(files_of(self.application.folder(cache))), 0)

    def test_what_it_cached_itself_serves_it_from_a_pack(self):
        pack, report = self.place / "harvested.kiln", self.place / "served"
        told = self.kiln("cache", "harvest", self.application.folder(self.own), "--base", self.base, "-o",
                         pack, *self.application.harvest_options())
        self.assertIn(f"{self.programs} binaries of the {NAME} cache proven and taken, 0 absent, "
                      "0 left out", told)
        output = self.start(self.application.without_cache, "serve", "--pack", pack, "--report",
                            report)
        self.assertEqual(output, self.output)
        lines = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()
                 if '"program"' in line]
        self.assertEqual([(line["outcome"], line["rung"]) for line in lines],
                         [("served", "exact")] * self.programs)

    def test_a_damaged_binary_is_named_and_left_out(self):
        cache = self.new_cache() / "damaged"
        shutil.copytree(self.own, cache)
        folder = self.application.folder(cache)
        self.application.damage(folder)
        told = self.kiln("cache", "harvest", folder, "--base", self.base, "-o", self.place / "damaged.kiln",
                         *self.application.harvest_options(), exit_code=1)
        self.assertIn(f"{self.programs - 1} binaries of the {NAME} cache proven and taken, "
                      "0 absent, 1 left out", told)
        self.assertEqual(told.count(": left out: "), 1)


if __name__ == "__main__":
    if not APPLICATIONS[NAME].is_here():
        print(f"SKIP: {NAME} is not here, or in another version")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

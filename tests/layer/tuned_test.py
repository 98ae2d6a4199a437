#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Launches that leave the work-group size to the driver get the one that a pack has measured.

    tuned_test.py KILN LAYER APPLICATION FORGE DRIVER [TEST...]

APPLICATION is unsized.c of this folder, which prints the sizes that its kernels see, FORGE puts a
size into a pack as if it were measured, and DRIVER is the scripted test driver.

Exit codes: 0 passed, 1 failed, 77 there is no device.
"""

import json
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

from layer_test import APPLICATION, FOLDER, KILN, PLACE, bare, complaints, lines_of, must, run_seeded as run

FORGE, DRIVER = (os.path.abspath(path) for path in sys.argv[4:6])
RANGES = ("64", "100", "48x8", "16x8x4", "65536")
LOCAL = re.compile(r"^(\S+): (-?\d+) local (\d+)x(\d+)x(\d+)", re.MULTILINE)
MACHINE = "[[platform]]\nname = \"Scripted platform\"\n[[platform.device]]\nforward = true\n"


def results(text):
    """What is printed without the sizes that `shape` saw."""
    return LOCAL.sub(r"\1: \2", text)


def seen(text):
    """The size that `shape` saw, by the range."""
    return {word: (int(x), int(y), int(z)) for word, _, x, y, z in LOCAL.findall(text)}


class Tuned(unittest.TestCase):
    """An application that gives no sizes, recorded and built, and its pack with others."""
    maxDiff = None
    variables = {}

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="tuned", dir=FOLDER))
        cls.base, cls.built = cls.folder / "base.kiln", cls.folder / "app.kiln"
        cls.alone = bare(*RANGES, **cls.variables)
        spool = cls.folder / "app.spool"
        for words in (("record", "-o", spool, "--", APPLICATION, *RANGES),
                      ("compile", spool, "-o", cls.base), ("build", cls.base, "-o", cls.built)):
            done = run(KILN, *words, **cls.variables)
            if done.code != 0:
                raise AssertionError(f"{words}: exit code {done.code}: {done.error}")

    def setUp(self):
        self.place = Path(tempfile.mkdtemp(prefix="test", dir=self.folder))

    def forged(self, kernel, *size):
        """The built pack, with that size for the kernel."""
        pack = self.place / "forged.kiln"
        done = run(FORGE, self.built, kernel, *size, pack)
        self.assertEqual(done.code, 0, done.error)
        return pack

    def serve(self, *options, **variables):
        """What the application prints under kiln serve, served from a binary throughout."""
        report = self.place / "report"
        report.unlink(missing_ok=True)
        done = run(KILN, "serve", *options, "--report", report, "--", APPLICATION, *RANGES,
                   **{**self.variables, **variables})
        self.assertEqual(done.code, 0, done.error)
        self.assertEqual(complaints(done), [])
        self.assertEqual({line["outcome"] for line in lines_of(report)}, {"served"})
        self.assertEqual(results(done.output), results(self.alone))
        return done.output


class Served(Tuned):
    """On the driver as it is."""

    def test_a_launch_without_a_size_gets_the_one_that_divides_its_range(self):
        """All else is as the driver chooses, and every result is the same."""
        own = seen(self.alone)
        self.assertEqual(set(own), set(RANGES))
        for size in ((16, 1, 1), (4, 2, 1), (8, 4, 2)):
            with self.subTest(size):
                pack = self.forged("shape", *size)
                for options in ((), ("--overlay", self.place / "overlay")):
                    got = seen(self.serve("--pack", pack, *options))
                    for word in RANGES:
                        sides = [int(side) for side in word.split("x")] + [1, 1]
                        whole = all(side % part == 0 for side, part in zip(sides, size))
                        self.assertEqual(got[word], size if whole else own[word], word)

    def test_a_size_that_the_kernel_does_not_take_is_not_used(self):
        """Too many work-items, or a side that is too long; or another kernel's."""
        for kernel, size in (("shape", (65536, 1, 1)), ("shape", (64, 64, 64)),
                             ("required", (16, 1, 1)), ("plain", (16, 1, 1))):
            with self.subTest(kernel, size=size):
                self.assertEqual(self.serve("--pack", self.forged(kernel, *size)), self.alone)

    def test_a_second_build_has_code_for_the_size(self):
        """For the launches that it divides; and a third has nothing to do."""
        pack, code = self.forged("shape", 16, 1, 1), b"/shape/16-1-1-goffs0-smallgrid/"
        reason = ("the earlier binary was made from other options, arguments, launches, sizes or "
                  "tools")
        for built in (False, True):
            (job,) = json.loads(must("build", "--dry-run", self.base, "-o", pack, "--json").output)["jobs"]
            self.assertEqual((job["need"], job["reason"] == reason),
                             ("reuse", False) if built else ("compile", True))
            must("pack", "inspect", pack, "--extract", self.place / str(built))
            (binary,) = (self.place / str(built)).glob("*/*.bin")
            self.assertEqual(code in binary.read_bytes(), built)
            must("build", self.base, "-o", pack)
        (target,) = json.loads(must("pack", "inspect", pack, "--json").output)["targets"]
        finish = target["binaries"][0]["provenance"]["finish"]
        self.assertEqual(finish["final"], "yes", finish)
        self.assertIn([16, 1, 1], finish["local_sizes"])
        self.assertEqual(seen(self.serve("--pack", pack))["64"], (16, 1, 1))

    def test_tuning_takes_sizes_away_that_change_what_is_computed(self):
        """`shape` writes its size; of `plain` the driver's choice may be as good."""
        pack = self.forged("shape", 16, 1, 1)
        done = must("tune", pack, "-o", pack, "--budget", "20s", "--json")
        (device,) = json.loads(done.output)["devices"]
        ends = {(launch["kernel"], launch["size_class"]): launch["end"]
                for launch in device["launches"]}
        self.assertIn(ends.pop(("plain", "small")), ("better", "as good"), device)
        self.assertEqual(ends, {("shape", "small"): "refused", ("shape", "medium"): "refused"})
        self.assertEqual(self.serve("--pack", pack), self.alone)
        said = must("tune", pack, "-o", pack, "--budget", "1ms").output
        self.assertIn(", as recorded", said)
        self.assertRegex(said, r"shape \(medium\) +the budget was used up\n")

    def test_sizes_can_be_switched_off(self):
        """By one variable, with an overlay and without."""
        pack = self.forged("shape", 16, 1, 1)
        for options in ((), ("--overlay", self.place / "overlay")):
            self.assertEqual(self.serve("--pack", pack, *options, KILN_TUNED="0"), self.alone)

    def test_recording_uses_no_sizes(self):
        """What is recorded is what the application asked for."""
        spool = self.place / "again.spool"
        done = run(KILN, "record", "-o", spool, "--", APPLICATION, *RANGES,
                   KILN_PACK=str(self.forged("shape", 16, 1, 1)))
        self.assertEqual((done.code, done.output), (0, self.alone), done.error)
        must("compile", spool, "-o", self.place / "again.kiln")
        self.assertEqual((self.place / "again.kiln").read_bytes(), self.base.read_bytes())


class Refused(Tuned):
    """On a driver that takes no size of `shape` from a launch."""

    @classmethod
    def setUpClass(cls):
        cls.script, vendors = FOLDER / "driver.toml", FOLDER / "scripted"
        cls.script.write_text(MACHINE)
        vendors.mkdir()
        (vendors / "driver.icd").write_text(DRIVER + "\n")
        cls.variables = {"OCL_ICD_VENDORS": str(vendors), "KILN_TEST_DRIVER": str(cls.script)}
        super().setUpClass()

    def test_a_size_that_the_driver_refuses_is_left_to_it(self):
        """The first launch is made again without it, and the kernel has none from then on."""
        pack, log = self.forged("shape", 16, 1, 1), self.place / "log"
        self.assertEqual(seen(self.serve("--pack", pack))["64"], (16, 1, 1))
        fault = "[[fault]]\nat = \"clEnqueueNDRangeKernel\"\ndo = \"error\"\ncode = -54\n" \
                "kernel = \"shape\"\nnth = 1\n"
        self.script.write_text(f"log = \"{log}\"\n{MACHINE}{fault}")
        try:
            self.assertEqual(self.serve("--pack", pack), self.alone)
        finally:
            self.script.write_text(MACHINE)
        launches = re.findall(r"clEnqueueNDRangeKernel \S+ shape$", log.read_text(), re.MULTILINE)
        own = 2 * len(RANGES) + 5  # those of run_wrong() among them that reach a driver
        self.assertLessEqual(len(launches), own + 1)
        self.assertGreater(len(launches), 2 * len(RANGES))


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[6:]])
    finally:
        PLACE.cleanup()

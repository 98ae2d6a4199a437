#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An application with several devices in its context cannot tell whether the layer is there.

    devices_test.py KILN LAYER APPLICATION DRIVER [TEST...]

APPLICATION is two_devices.c of this folder. PoCL gives two devices that say they are different, and
DRIVER, the scripted test driver before it, two that say they are the same.

Exit codes: 0 passed, 1 failed, 77 there are no two devices.
"""

import difflib
import json
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

from layer_test import (APPLICATION, FOLDER, KILN, PLACE, bare, complaints, is_kept, lines_of,
                        programs_in, run, run_seeded)

DRIVER = os.path.abspath(sys.argv[4])
# PoCL says of a program that it built for one of two devices that it is built for both. The layer
# says what OpenCL does.
ASIDE = re.compile(r"part [a-z ]+: device [01]: (STATUS|OPTIONS|BINARY_TYPE)")
DEVICE = """
[[platform.device]]
forward = true
real_device = {0}
name = "Scripted GPU"
vendor = "Kiln"
vendor_id = 1
version = "OpenCL 3.0 scripted"
driver_version = "1.0"
"""


def compared(text):
    """The lines that are the same with the layer."""
    return [line for line in text.splitlines() if not ASIDE.match(line)]


class Devices(unittest.TestCase):
    """What the tests share."""
    maxDiff = None
    sections = ("both",)
    logs = False  # what PoCL gives for what it compiles
    variables = {"POCL_DEVICES": "pthread pthread"}

    def setUp(self):
        self.place = Path(tempfile.mkdtemp(prefix="test", dir=FOLDER))
        self.alone = bare(*self.sections, **self.variables)

    def kiln(self, *words):
        """A command of kiln's on the devices, which succeeds."""
        begin = run if self.logs and "--" in words else run_seeded
        done = begin(KILN, *words, **self.variables)
        self.assertEqual(done.code, 0, done.error)
        return done

    def same(self, done):
        """The run printed as it does without the layer, which said nothing."""
        self.assertEqual(complaints(done), [])
        if compared(done.output) != compared(self.alone):
            self.fail("\n".join(difflib.unified_diff(
                compared(self.alone), compared(done.output), "alone", "with the layer", "", "", n=0,
                lineterm="")))
        return done.output

    def serve(self, *options):
        """The output, and the lines of the report, of the application under kiln serve."""
        report = self.place / "report"
        report.unlink(missing_ok=True)
        done = self.kiln("serve", *options, "--report", report, "--", APPLICATION, *self.sections)
        if "--overlay" in options:
            self.kiln("overlay", "build", options[options.index("--overlay") + 1])
        return self.same(done), lines_of(report)

    def record(self):
        """The base pack of what the application builds, and its programs' names."""
        spool, base = self.place / "app.spool", self.place / "base.kiln"
        self.same(self.kiln("record", "-o", spool, "--", APPLICATION, *self.sections))
        self.kiln("compile", spool, "-o", base)
        programs = json.loads(self.kiln("pack", "inspect", base, "--json").output)["programs"]
        self.assertEqual({len(program["variants"]) for program in programs}, {1})
        return base, {program["name"] for program in programs}

    def served(self, lines):
        """The programs that were, each from a binary."""
        for line in lines:
            self.assertIn(line["rung"], ("", "exact"), line)
        return {line["program"] for line in lines if line["outcome"] == "served"}


class Different(Devices):
    """Two devices of one platform; PoCL says that their vendors are two."""

    def test_an_overlay_keeps_what_the_driver_builds_for_each(self):
        """One that is damaged costs a build of both."""
        options = ("--overlay", self.place / "overlay")
        _, lines = self.serve(*options)
        kept = {line["program"] for line in lines if is_kept(line)}
        files = programs_in(self.place / "overlay")
        self.assertEqual(len(files), 2 * len(kept))
        _, lines = self.serve(*options)
        self.assertEqual(self.served(lines), kept)
        files[0].write_bytes(files[0].read_bytes()[:-100])
        _, lines = self.serve(*options)
        self.assertEqual(self.served(lines) | {files[0].name[:35]}, kept)
        self.assertEqual(sum(is_kept(line) for line in lines), 1)
        _, lines = self.serve(*options)
        self.assertEqual(self.served(lines), kept)

    def test_a_pack_serves_where_it_has_a_binary_for_each(self):
        """Where one has none, both are the driver's, and the overlay has them at the next start."""
        base, programs = self.record()
        one, both, overlay = (self.place / name for name in ("one.kiln", "both.kiln", "overlay"))
        self.kiln("build", base, "--device", "0", "-o", one)
        self.kiln("build", base, "--device", "1", "-o", both)
        self.kiln("pack", "merge", both, one, "-o", both)
        _, lines = self.serve("--pack", both)
        self.assertEqual(self.served(lines), programs)
        self.assertEqual({line["outcome"] for line in lines}, {"served"})
        _, lines = self.serve("--pack", one)
        self.assertEqual(lines[0]["reason"], "no pack has it for each device")
        self.assertEqual(self.served(lines), set())
        _, lines = self.serve("--pack", one, "--overlay", overlay)
        self.assertTrue(is_kept(lines[0]), lines[0])
        _, lines = self.serve("--pack", one, "--overlay", overlay)
        self.assertEqual(self.served(lines), programs)


class InEveryWay(Devices):
    """One after the other, otherwise for each, refused, called back, linked."""
    sections = ()
    logs = True

    def test_an_overlay_serves_the_second_start(self):
        """Of a program that is built otherwise for the other device the rest is the driver's."""
        options = ("--overlay", self.place / "overlay")
        self.serve(*options)
        output, lines = self.serve(*options)
        self.assertEqual(sum(is_kept(line) for line in lines), 0)
        self.assertGreaterEqual(len(self.served(lines)), 8)
        for line in ("part first: BINARY_SIZES alone 0, 8 bytes",
                     "part first: device 1: STATUS 0 -1",
                     "part first: device 1: OPTIONS 0 1 bytes, ",
                     "part second: device 0: OPTIONS 0 11 bytes, -DFACTOR=5"):
            self.assertIn(line, output.splitlines())


class Equal(Devices):
    """Two devices of one kind, which take each other's binaries."""
    sections = ("both", "binaries")

    @classmethod
    def setUpClass(cls):
        script, vendors = FOLDER / "driver.toml", FOLDER / "scripted"
        script.write_text("[[platform]]\nname = \"Scripted platform\"\n" + DEVICE.format(0) +
                          DEVICE.format(1))
        vendors.mkdir()
        (vendors / "driver.icd").write_text(DRIVER + "\n")
        cls.variables = {**Devices.variables, "OCL_ICD_VENDORS": str(vendors),
                         "KILN_TEST_DRIVER": str(script)}

    def test_an_overlay_keeps_one_binary_for_both(self):
        """The next start is a hit on each."""
        overlay = self.place / "overlay"
        _, lines = self.serve("--overlay", overlay)
        kept = {line["program"] for line in lines if is_kept(line)}
        self.assertEqual(len(programs_in(overlay)), len(kept))
        _, lines = self.serve("--overlay", overlay)
        self.assertEqual(self.served(lines), kept)

    def test_a_pack_that_was_built_on_one_serves_both(self):
        """It has one target."""
        base, programs = self.record()
        built = self.place / "app.kiln"
        self.kiln("build", base, "--device", "0", "-o", built)
        _, lines = self.serve("--pack", built)
        self.assertEqual(self.served(lines), programs)


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
    finally:
        PLACE.cleanup()

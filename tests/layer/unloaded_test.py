#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layer under ICD loaders that want clInitLayerWithProperties and close layers at their end, as
Khronos's does since v2026.05.29, and beside a layer that has clInitLayer alone.

    unloaded_test.py KILN LAYER APPLICATION LOADER LATER_LOADER OTHER_LAYER [TEST...]

APPLICATION is exits.c, LOADER is unloading_loader.c, LATER_LOADER the same with another version of
layers, and OTHER_LAYER is counting_layer.c. OCL_ICD_VENDORS chooses the driver of the system's
loader; the others have PoCL.

Exit codes: 0 passed, 1 failed, 77 there is no device.
"""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

LOADER, LATER_LOADER, OTHER = (os.path.abspath(path) for path in sys.argv[4:7])
sys.argv[4:7] = []  # the rest is layer_test's
# pylint: disable=wrong-import-position
from layer_test import (APPLICATION, FOLDER, KILN, LAYER, PLACE, lines_of, must, run_seeded as run)  # noqa: E402

NEW = {"LD_LIBRARY_PATH": os.path.dirname(LOADER)}
LATER = {"LD_LIBRARY_PATH": os.path.dirname(LATER_LOADER), "KILN_ICD_LOADER": LATER_LOADER}
BUILDS = 3  # of the application
# Of a loader whose later version of layers Kiln's layer does not have.
REFUSED = f"{os.path.realpath(LATER_LOADER)} does not take Kiln's layer"


def said(done):
    """Kiln's lines on standard error; the dynamic linker misses versions of symbols."""
    return [line for line in done.error.splitlines() if line.startswith("kiln")]


class Unloaded(unittest.TestCase):
    """A pack that was recorded and built with the system's loader."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.alone = run(APPLICATION, "early")
        if cls.alone.code == 77:
            print("SKIP: there is no OpenCL device")
            sys.exit(77)
        cls.place = Path(tempfile.mkdtemp(prefix="unloaded", dir=FOLDER))
        spool, base, cls.pack = (str(cls.place / name) for name in ("spool", "base.kiln", "app.kiln"))
        must("record", "-o", spool, "--", APPLICATION, "early")
        must("compile", spool, "-o", base)
        must("build", base, "-o", cls.pack)

    def setUp(self):
        self.report = Path(tempfile.mkdtemp(dir=self.place)) / "report"

    def check_served(self, done):
        """All programs were, to the application's end."""
        self.assertEqual((done.code, done.output), (0, self.alone.output), done.error)
        self.assertEqual([line["outcome"] for line in lines_of(self.report)], ["served"] * BUILDS)
        self.report.unlink()

    def serve(self, *options, when="early", **variables):
        """A start under kiln serve."""
        return run(KILN, "serve", *options, "--report", self.report, "--",
                   APPLICATION, when, **variables)

    def test_what_the_application_prints(self):
        """With each loader."""
        self.assertEqual(self.alone.output.count("\n"), 3)
        for loader in (NEW, LATER):
            done = run(APPLICATION, "early", **loader)
            self.assertEqual((done.code, done.output), (0, self.alone.output), done.error)

    def test_a_pack_is_served_to_the_application_s_end(self):
        """What was built before, and what is built after the loader has closed the layer."""
        for when in ("early", "late"):
            done = self.serve("--pack", self.pack, when=when, **NEW)
            self.check_served(done)
            self.assertEqual(said(done), [])

    def test_an_overlay_is_filled_and_served(self):
        """Whose markers have an exit handler of their own."""
        overlay = self.place / "overlay"
        done = self.serve("--overlay", overlay, **NEW)
        self.assertEqual((done.code, done.output), (0, self.alone.output), done.error)
        must("overlay", "build", overlay)
        for when in ("early", "late"):
            self.report.unlink(missing_ok=True)
            self.check_served(self.serve("--overlay", overlay, when=when, **NEW))

    def test_a_run_is_recorded(self):
        """All of it."""
        done = run(KILN, "record", "-o", self.report.parent / "spool", "--",
                   APPLICATION, "early", **NEW)
        self.assertEqual((done.code, done.output), (0, self.alone.output), done.error)
        self.assertIn(f"kiln: {BUILDS} programs recorded", done.error)

    def test_another_layer_above_or_below(self):
        """The new loader leaves out the old layer, and takes Kiln's all the same."""
        for loader, calls in (({}, BUILDS), (NEW, 0)):
            for layers in ((OTHER, LAYER), (LAYER, OTHER)):
                done = run(APPLICATION, "early", OPENCL_LAYERS=":".join(layers), KILN_PACK=self.pack,
                           KILN_REPORT=str(self.report), **loader)
                self.check_served(done)
                self.assertEqual(done.error.count("another layer"), calls, (layers, loader))

    def test_the_layer_named_twice(self):
        """It is below itself in no case."""
        for loader in ({}, NEW):
            self.check_served(run(APPLICATION, "early", OPENCL_LAYERS=f"{LAYER}:{LAYER}",
                                  KILN_PACK=self.pack, KILN_REPORT=str(self.report), **loader))

    def test_a_loader_that_takes_layers_but_not_kiln_s_gets_another_in_front(self):
        """Which kiln serve asks before it starts the application."""
        done = self.serve("--pack", self.pack, LD_LIBRARY_PATH=LATER["LD_LIBRARY_PATH"])
        self.check_served(done)
        self.assertIn(f"kiln: {REFUSED}; ", done.error)

    def test_a_loader_that_takes_layers_but_not_kiln_s_is_named(self):
        """If there is no other, kiln serve runs the application, and the others do not."""
        why = f"kiln: {REFUSED}; KILN_ICD_LOADER: {REFUSED}"
        done = self.serve("--pack", self.pack, **LATER)
        self.assertEqual((done.code, done.output), (0, self.alone.output), done.error)
        self.assertEqual(said(done), [why + "; the application runs without Kiln"])
        self.assertEqual(self.report.read_text(), "")
        for command in (("serve", "--pack", self.pack, "--require", "exact"),
                        ("record", "-o", self.report.parent / "spool")):
            done = run(KILN, *command, "--", APPLICATION, "early", **LATER)
            self.assertEqual((done.code, done.output, said(done)), (5, "", [why]))

    def test_doctor_asks_the_loader(self):
        """It does not judge by the loader's words."""
        for loader, takes in (({}, True), (NEW, True), (LATER, False)):
            done = run(KILN, "doctor", "--json", "--pack", self.pack, "--",
                       APPLICATION, "early", **loader)
            found = json.loads(done.output)
            self.assertEqual(found["icd_loader"]["takes_layers"], takes, loader)
            self.assertEqual(found["application"]["reached"], takes, loader)
            problems = "\n".join(found["problems"])
            self.assertEqual(REFUSED in problems, not takes, problems)
            self.assertNotIn("of its own", problems)


if __name__ == "__main__":
    with PLACE:
        unittest.main(argv=sys.argv[:1] + sys.argv[4:])

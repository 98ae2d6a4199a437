#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the overlay keeps of an application's programs whose files are edited while it runs.

    kept_test.py KILN LAYER APPLICATION [TEST...]

APPLICATION is steps.c of this folder. OCL_ICD_VENDORS chooses the driver. Every start has an empty
cache folder of PoCL's.

Exit codes: 0 passed, 1 failed, 77 there is no device.
"""

import sys
import tempfile
import unittest
from pathlib import Path

from layer_test import APPLICATION, FOLDER, KILN, PLACE, end_without_core, lines_of, must, run

BUILD = ("build:-I .", "launch:1")
ALONE = {}  # runs without the layer, by their steps


def header(value):
    """The step that writes the header."""
    return f"sh:echo '#define VALUE {value}' > steps.h"


# One of which the driver makes a much larger binary: of two the layer keeps the larger. VALUE is 2.
LARGE = ("sh:{ echo '#define VALUE table[get_global_size(0) - 7]'; echo 'constant int table[] = {';"
         " seq -s, 99999; echo '};'; } > steps.h")


class Steps(unittest.TestCase):
    """Starts of the application, alone and with an overlay."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        end_without_core()
        if run(APPLICATION).code == 77:
            print("SKIP: there is no OpenCL device")
            sys.exit(77)

    def setUp(self):
        self.place = Path(tempfile.mkdtemp(prefix="test", dir=FOLDER))
        self.overlay = self.place / "overlay"
        self.programs = self.overlay / "programs"

    def serve(self, *steps):
        """A start with the overlay, which must print what one without prints: the report's lines."""
        report = self.place / "report"
        report.unlink(missing_ok=True)
        if steps not in ALONE:
            ALONE[steps] = run(APPLICATION, *steps)
        alone = ALONE[steps]
        self.assertEqual(alone.code, 0, alone.output)
        served = run(KILN, "serve", "--overlay", self.overlay, "--report", report, "--", APPLICATION, *steps)
        self.assertEqual((served.code, served.output), (0, alone.output), served.error)
        return lines_of(report)

    def outcomes(self, *steps):
        """The same, as the outcome of each program, in the order of the calls."""
        return [line["outcome"] for line in self.serve(*steps)]

    def kept(self):
        """The files with a program, by their names."""
        return sorted(self.programs.glob("*.kiln"))

    def binary(self, path):
        """The binary of a kept program."""
        out = Path(tempfile.mkdtemp(dir=self.place))
        must("extract", path, "-o", out)
        (binary,) = out.glob("*/*.bin")
        return binary.read_bytes()


class Edited(Steps):
    """A header changes between two calls of one start."""

    def test_a_header_that_changes_before_another_launch_is_not_kept_under_the_old_name(self):
        """PoCL's code of the second launch is had by building once more."""
        self.serve(header(1), *BUILD, LARGE, "launch:2")
        self.assertEqual(self.outcomes(header(1), *BUILD, "launch:2"), ["served"])
        self.assertEqual(self.outcomes(LARGE, *BUILD, "launch:2"), ["passed"])

    def test_so_it_is_when_the_program_was_served(self):
        """Its source is the application's all the same."""
        self.serve(header(1), *BUILD)
        self.serve(header(1), *BUILD, LARGE, "launch:2")
        self.serve(header(1), *BUILD, "sh:rm steps.h", "launch:4")
        self.assertEqual(self.outcomes(header(1), *BUILD, "launch:2", "launch:4"), ["served"])

    def test_with_the_header_as_it_was_the_code_of_later_launches_is_kept(self):
        """The binary of the next start has it."""
        self.serve(header(1), *BUILD)
        (path,) = self.kept()
        first = self.binary(path)
        if b"/k/1-1-1-" not in first:
            self.skipTest("the driver's binaries have all code at once")
        self.assertNotIn(b"/k/2-1-1-", first)
        self.serve(header(1), *BUILD, "launch:2")
        self.assertIn(b"/k/2-1-1-", self.binary(path))


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
    finally:
        PLACE.cleanup()

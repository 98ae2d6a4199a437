#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An application whose callbacks throw or end their threads gives the same output under the layer.

    unwinds_test.py KILN LAYER SHARED-UNWINDER OWN-UNWINDER

The two applications are of unwinds.cpp of this folder. OCL_ICD_VENDORS chooses the driver.

Exit codes: 0 passed, 1 failed, 77 there is no device.
"""

import os
import sys
import tempfile
import unittest
from pathlib import Path

from layer_test import FOLDER, KILN, PLACE, lines_of, must, run_seeded as run

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

APPLICATIONS = {"shared": os.path.abspath(sys.argv[3]), "own": os.path.abspath(sys.argv[4])}


class Unwinds(unittest.TestCase):
    """Each application alone, recorded, and at a first and a second start with an overlay."""
    maxDiff = None

    def test_outputs(self):
        """Are equal."""
        for name, application in APPLICATIONS.items():
            alone = run(application)
            if alone.code == 77:
                self.skipTest("there is no OpenCL device")
            self.assertEqual(alone.code, 0, alone.output + alone.error)
            folder = Path(tempfile.mkdtemp(prefix=name, dir=FOLDER))
            report = folder / "report"
            for way in (("record", "-o", folder / "spool"), *[
                    ("serve", "--overlay", folder / "overlay", "--report", report)] * 2):
                with self.subTest(unwinder=name, way=way[0]):
                    report.unlink(missing_ok=True)
                    done = run(KILN, *way, "--", application)
                    self.assertEqual((done.code, done.output), (0, alone.output), done.error)
                if way[0] == "serve":
                    must("overlay", "build", folder / "overlay")
            self.assertIn("served", [line["outcome"] for line in lines_of(report)])


if __name__ == "__main__":
    with PLACE:
        skips.run_cases(sys.argv[5:])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyOpenCL, which was not written for Kiln: recorded, built and served.

    pyopencl_test.py KILN LAYER APPLICATION

Skipped by exit code 77 where there is no PyOpenCL.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

KILN, LAYER = sys.argv[1:3]
# Debian's packages are the system's interpreter's.
PYTHONS = (sys.executable, "/usr/bin/python3")


def find_python():
    """One that has PyOpenCL, or None."""
    return next((python for python in PYTHONS if Path(python).is_file() and subprocess.run(
        [python, "-c", "import pyopencl"], capture_output=True, check=False).returncode == 0), None)


PIPELINE = [find_python(), "-B", str(Path(__file__).with_name("pyopencl_pipeline.py"))]


class PyOpenCL(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        self.runs = 0

    def run_in_new_home(self, *command):
        """Its output; nothing but Kiln's files can be warm."""
        self.runs += 1
        home = self.folder / f"home-{self.runs}"
        home.mkdir()
        environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home),
                       "POCL_CACHE_DIR": str(home), "PYOPENCL_CTX": "0",
                       "PYOPENCL_NO_CACHE": "1"}
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env=environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_its_programs_are_served(self):
        bare = self.run_in_new_home(*PIPELINE)
        self.assertEqual(len(bare.splitlines()), 3)
        record = [KILN, "record", "--layer", LAYER, "-o", "app.spool", "--", *PIPELINE]
        self.assertEqual(self.run_in_new_home(*record), bare)
        self.run_in_new_home(KILN, "compile", "app.spool", "-o", "base.kiln")
        self.run_in_new_home(KILN, "build", "base.kiln", "-o", "app.kiln")
        serve = [KILN, "serve", "--layer", LAYER, "--pack", "app.kiln", "--report", "lines"]
        self.assertEqual(self.run_in_new_home(*serve, "--", *PIPELINE), bare)
        lines = [json.loads(line) for line in
                 (self.folder / "lines").read_text(encoding="utf-8").splitlines()]
        served = [line for line in lines if (line["outcome"], line["rung"]) == ("served", "exact")]
        self.assertEqual(len(served), 2, lines)
        # PyOpenCL's reductions include a header of its own.
        reasons = {line["reason"] for line in lines if line not in served}
        self.assertEqual(reasons, {"it may depend on files or the time"})


if __name__ == "__main__":
    if PIPELINE[0] is None:
        print("SKIP: there is no PyOpenCL: install python3-pyopencl")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

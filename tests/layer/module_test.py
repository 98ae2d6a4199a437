#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An application that brings SPIR-V is recorded and served as one that brings source is.

    module_test.py LAB KILN LAYER APPLICATION

APPLICATION is module.c of this folder. It runs on a device of the laboratory that takes SPIR-V and
executes; LAB is lab.py. Exit codes: 0 passed, 1 failed, 77 that device is not here.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LAB, *BROUGHT = (os.path.abspath(path) for path in sys.argv[1:5])
DEVICE = "pocl-6.0"
EXIT_NOT_HERE = 125  # of lab.py
MANIFEST = """
schema = 1
[program.square]
source = "square.cl"
options = ["-cl-std=CL1.2"]
[program.square.variant.only]
kernel = "square"
arguments = [{ role = "output", type = "int" }]
"""
SOURCE = """
kernel void square(global int *out) {
  size_t i = get_global_id(0);
  out[i] = (int)(i * i);
}
"""


class Modules(unittest.TestCase):
    """One module, built with the same options each time."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        for path in BROUGHT:
            shutil.copy(path, self.folder)
        (self.folder / "square.toml").write_text(MANIFEST, encoding="utf-8")
        (self.folder / "square.cl").write_text(SOURCE, encoding="utf-8")
        for words in (("compile", "square.toml", "-o", "square.kiln"),
                      ("pack", "inspect", "square.kiln", "--extract", "out")):
            subprocess.run([BROUGHT[0], *words], cwd=self.folder, check=True, capture_output=True)
        (module,) = self.folder.glob("out/**/*64.spv")
        self.application = ("./" + Path(BROUGHT[2]).name, module.relative_to(self.folder))
        self.alone = self.run_here(*self.application)
        self.report = self.folder / "report"

    def run_here(self, *command):
        """Runs a command on the device, in the folder, to its good end; its output."""
        words = (sys.executable, LAB, "run", DEVICE, "--dir", self.folder, "--env",
                 "KILN_PACK_PATH=", "--env", "KILN_BACKGROUND=0", "--", *command)
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                              timeout=300, check=False)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def kiln(self, *words):
        """kiln on the device."""
        return self.run_here("./kiln", *words)

    def record(self):
        """The application sees what it sees alone; base.kiln is what it built."""
        seen = self.kiln("record", "-o", "app.spool", "--", *self.application)
        self.assertEqual(seen, self.alone)
        self.kiln("compile", "app.spool", "-o", "base.kiln")

    def serve(self, *options):
        """The application sees what it sees alone."""
        seen = self.kiln("serve", *options, "--report", "report", "--", *self.application)
        self.assertEqual(seen, self.alone)

    def lines(self):
        """Outcome, rung and reason of each program of the report."""
        text = self.report.read_text(encoding="utf-8")
        return [tuple(json.loads(line)[name] for name in ("outcome", "rung", "reason"))
                for line in text.splitlines() if '"program"' in line]

    def test_a_module_is_recorded_built_and_served(self):
        """The application sees the same each time."""
        self.record()
        self.kiln("build", "base.kiln", "-o", "app.kiln")
        self.serve("--pack", "app.kiln")
        self.assertEqual(self.lines(), [("served", "exact", "")])

    def test_beside_a_pack_without_a_binary_the_overlay_keeps_the_module(self):
        """As it does source; a pack alone gives the module to the driver."""
        self.record()
        self.serve("--pack", "base.kiln")
        for _ in range(2):
            self.serve("--pack", "base.kiln", "--overlay", "overlay")
            self.kiln("overlay", "build", "overlay")
        self.assertEqual([line[:2] for line in self.lines()],
                         [("compiled", "il"), ("passed", ""), ("served", "exact")])

    def test_an_overlay_alone_keeps_a_module(self):
        """The second start needs no compiler."""
        for _ in range(2):
            self.serve("--overlay", "overlay")
            self.kiln("overlay", "build", "overlay")
        self.assertEqual([line[:2] for line in self.lines()],
                         [("passed", ""), ("served", "exact")])

    def test_a_module_with_constants_is_left_to_the_driver(self):
        """They make another program of it."""
        self.application += ("constant",)
        self.alone = self.run_here(*self.application)
        self.serve("--overlay", "overlay")
        self.assertEqual(self.lines(), [("passed", "", "its specialisation constants were set")])


def main():
    """Skips where the device is not here."""
    probe = subprocess.run([sys.executable, LAB, "run", DEVICE, "--", "true"], capture_output=True,
                           text=True, check=False)
    if probe.returncode == EXIT_NOT_HERE:
        print(f"SKIP: {probe.stderr.strip()}")
        return 77
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])


if __name__ == "__main__":
    sys.exit(main())

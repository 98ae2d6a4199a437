#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two commands that add to one pack at once keep each other's part.

    together_test.py KILN

Exit codes: 0 passed, 1 failed, 77 there is no device or no clang.
"""

import fcntl
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

KILN = sys.argv[1]
MANIFEST = Path(__file__).resolve().parent / "fixtures" / "tiny" / "tiny.toml"
TUNE = ("--device", "0", "--program", "copy", "--budget", "500ms", "--size", "64x64")


def kiln(*arguments, folder):
    """Runs kiln to its end; what it printed."""
    done = subprocess.run([KILN, *arguments], cwd=folder, capture_output=True, text=True,
                          check=False)
    if done.returncode == 5:
        print(f"SKIP: {done.stderr.strip()}")
        sys.exit(77)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stderr}")
    return done.stdout


class Together(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = Path(self.place.name)
        kiln("compile", MANIFEST, "-o", "base.kiln", folder=self.folder)
        kiln("build", "base.kiln", "--device", "0", "-o", "built.kiln", folder=self.folder)

    def tearDown(self):
        self.place.cleanup()

    def meanwhile(self, pack, *command):
        """Runs a command that writes `ours.kiln`; before it does, `pack` is put there. The result."""
        lock = os.open(self.folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with subprocess.Popen([KILN, *command], cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as process:
            try:  # a slow machine prints progress before; the lock must not outlive a failure
                lines = iter(process.stderr.readline, "")
                self.assertTrue(any("waiting for another command" in line for line in lines))
                os.replace(self.folder / pack, self.folder / "ours.kiln")
            finally:
                os.close(lock)
            error = process.communicate()[1]
            self.assertEqual(process.returncode, 0, error)
        return json.loads(kiln("pack", "inspect", "ours.kiln", "--json", folder=self.folder))

    def copy(self, name, to):
        """Copies a pack in the folder."""
        (self.folder / to).write_bytes((self.folder / name).read_bytes())

    def test_a_build_keeps_what_was_tuned_meanwhile(self):
        kiln("tune", "built.kiln", *TUNE, "-o", "tuned.kiln", folder=self.folder)
        result = self.meanwhile("tuned.kiln", "build", "base.kiln", "--device", "0", "-o",
                                "ours.kiln")
        self.assertTrue(result["tunings"])
        self.assertTrue(result["targets"])

    def test_a_tuning_keeps_what_was_built_meanwhile(self):
        self.copy("base.kiln", "ours.kiln")
        result = self.meanwhile("built.kiln", "tune", "ours.kiln", *TUNE, "-o", "ours.kiln")
        self.assertTrue(result["tunings"])
        self.assertTrue(result["targets"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Binaries that an application keeps itself: a damaged one kills the driver, and with the layer the
application no more than twice.

    own_binaries_test.py KILN APPLICATION

APPLICATION is binary_cache.c of this folder; OCL_ICD_VENDORS chooses the driver.
Exit codes: 0 passed, 1 failed, 77 there is no device, or its driver survives all damage.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

KILN, APPLICATION = (os.path.abspath(path) for path in sys.argv[1:3])
MUTATIONS = 60
STARTS = 4  # at each of which damage kills, to be taken for deadly
RESULT = "sum 1240\n"


def skip(why):
    """Ends the test."""
    print(f"SKIP: {why}")
    sys.exit(77)


class OwnBinaries(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)
        self.file = self.folder / "binary"
        self.overlay = self.folder / "overlay"
        self.runs = 0
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if self.start().returncode == 77:
            skip("there is no device")
        self.good = self.file.read_bytes()

    def start(self, *before):
        """One start of the application, with nothing of the driver's warm."""
        self.runs += 1
        environment = {**os.environ, "POCL_CACHE_DIR": str(self.folder / f"cache-{self.runs}"),
                       "KILN_PACK_PATH": "", "KILN_BACKGROUND": "0"}
        return subprocess.run([*map(str, before), APPLICATION, str(self.file)], env=environment,
                              capture_output=True, text=True, timeout=60, check=False)

    def serve(self, *options):
        """One start under the layer."""
        return self.start(KILN, "serve", "--overlay", self.overlay, *options, "--")

    def damaged(self):
        """Files that the driver dies of while it loads them, each time."""
        dice = random.Random(1)
        for _ in range(MUTATIONS):
            bad = bytearray(self.good)
            for _ in range(8):
                bad[dice.randrange(len(bad))] ^= 1 << dice.randrange(8)
            for _ in range(STARTS):
                self.file.write_bytes(bad)
                done = self.start()
                if done.returncode >= 0 or done.stdout:
                    break
            else:
                yield bytes(bad)

    def die(self):
        """The first start of the layer's that dies, too: what a driver makes of damage depends on
        what lies in memory."""
        for bad in self.damaged():
            self.file.write_bytes(bad)
            if self.serve().returncode < 0:
                return
        skip("the driver survives all damage")

    def test_a_good_binary_is_loaded(self):
        """The guard leaves nothing behind that a later start would trip over."""
        for _ in range(3):
            done = self.serve()
            self.assertEqual((done.returncode, done.stdout), (0, "loaded\n" + RESULT), done.stderr)
        self.assertEqual([path for path in self.overlay.glob("a-*")], [])

    def test_a_damaged_one_kills_twice_at_most(self):
        """Then it is refused, and the application compiles and replaces it."""
        self.die()
        report = self.folder / "report"
        for _ in range(2):  # the second death, if it dies again, and then none
            done = self.serve("--report", report)
            if done.returncode >= 0:
                break
        self.assertEqual((done.returncode, done.stdout), (0, "compiled\n" + RESULT), done.stderr)
        lines = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()
                 if '"program"' in line]
        self.assertTrue(any(line["reason"].startswith("the application's own binary: ")
                            for line in lines), lines)
        self.assertEqual(self.serve().stdout, "loaded\n" + RESULT)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

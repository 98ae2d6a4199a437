#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A launch with a sampler and shared virtual memory is recorded, and repeated when the pack is built.

    arguments_test.py KILN LAYER APPLICATION [TEST...]

APPLICATION is arguments.c of this folder. Exit codes: 0 passed, 1 failed, 77 there is no device with
images.
"""

import json
import sys
import tempfile
import unittest
from pathlib import Path

from layer_test import APPLICATION, FOLDER, KILN, PLACE, run

SAMPLER = {"unknown": "a sampler",
           "sampler": {"normalized": False, "addressing": 0x1131, "filter": 0x1140}}


class Arguments(unittest.TestCase):
    """The application, recorded and built."""

    def test_a_launch_with_objects_is_repeated(self):
        """The pack has the sampler's properties and the memory's size, and its binary was launched."""
        alone = run(APPLICATION)
        if alone.code == 77:
            print("SKIP: there is no OpenCL device with images")
            sys.exit(77)
        self.assertIn((alone.code, alone.output), ((0, "1 1 1 2\n"), (0, "1 1 1 2 shared\n")))
        place = Path(tempfile.mkdtemp(prefix="arguments", dir=FOLDER))
        spool, base, built = (place / name for name in ("app.spool", "base.kiln", "app.kiln"))
        for words in (("record", "-o", spool, "--", APPLICATION), ("compile", spool, "-o", base),
                      ("build", base, "-o", built)):
            done = run(KILN, *words)
            self.assertEqual(done.code, 0, f"{words}: {done.error}")
        pack = json.loads(run(KILN, "pack", "inspect", "--json", built).output)
        (program,) = pack["programs"]
        (launch,) = program["variants"][0]["launches"]
        self.assertEqual(launch["arguments"][1], SAMPLER)
        size = 3072 if "shared" in alone.output else 16
        self.assertEqual(launch["arguments"][3], {"buffer": size})
        self.assertNotIn("not launched", run(KILN, "pack", "inspect", built).output)
        provisioned = run(KILN, "provision", built, "--launch", "--folder", place / "mesa")
        self.assertEqual(provisioned.code, 0, provisioned.error)
        self.assertIn("only loaded: the manifest lists no arguments, and only kiln build repeats "
                      "recorded launches\n", provisioned.output)
        served = run(KILN, "serve", "--pack", built, "--", APPLICATION)
        self.assertEqual((served.code, served.output), (0, alone.output), served.error)


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
    finally:
        PLACE.cleanup()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a parent hands down that a terminal does not: ignored signals.

    parent_test.py KILN

Exit codes: 0 passed, 1 failed, 77 there is no clang.
"""

import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

KILN = sys.argv[1]
MANIFEST = Path(__file__).resolve().parent / "fixtures" / "tiny" / "tiny.toml"


class Parent(unittest.TestCase):
    def test_tools_are_waited_for_though_the_parent_ignores_ended_children(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [KILN, "compile", MANIFEST, "-o", Path(folder, "base.kiln")],
                preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
                capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    if not any(shutil.which(f"clang-{n}") for n in range(11, 21)) and not shutil.which("clang"):
        print("SKIP: no clang here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

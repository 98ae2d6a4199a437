# SPDX-License-Identifier: Apache-2.0
"""Commands of the packages' tests, and how these tests end."""

import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position


def run(*command, code=0, **options):
    """What the command prints; AssertionError with it if it works and must not, or the reverse."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)
    if (done.returncode == 0) != (code == 0):
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}")
    return done.stdout


def run_tests(missing):
    """Runs the program's tests and ends it. `missing` names what they need and is not installed."""
    if missing:
        print(f"SKIP: {', '.join(missing)}: not installed")
        sys.exit(77)
    skips.run_cases()

# SPDX-License-Identifier: Apache-2.0
"""Commands of the packages' tests."""

import subprocess


def run(*command, code=0, **options):
    """What the command prints; AssertionError with it if it works and must not, or the reverse."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)
    if (done.returncode == 0) != (code == 0):
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}")
    return done.stdout

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where the subject of a commit has more than 72 characters or ends in a full stop.

Looks at the commits that HEAD has and FIRST lacks; without FIRST, as in a shallow clone, at none.
"""

import subprocess
import sys

from tracked import ROOT

FIRST = "e15a1c9f"  # earlier subjects are as they are
LIMIT = 72


def git(*words):
    """What git prints; nothing if it fails."""
    try:
        return subprocess.run(["git", "-C", str(ROOT), *words], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False).stdout
    except FileNotFoundError:
        return ""


def main():
    subjects = git("log", "--no-merges", "--format=%h %s", f"{FIRST}..HEAD").splitlines()
    faults = [line for line in subjects
              if len(line.split(" ", 1)[1]) > LIMIT or line.endswith(".")]
    print("\n".join(faults + [f"{len(subjects)} subjects, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

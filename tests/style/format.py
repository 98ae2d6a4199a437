#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where clang-format would change a file, by .clang-format.

Versions format differently, so that one decides: 14, which every supported system has.
Exit codes: 0 all are formatted, 1 some are not, 77 there is no clang-format 14.
"""

import shutil
import subprocess
import sys

from tracked import ROOT, tracked

VERSION = "14"


def find_formatter():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path and f"version {VERSION}." in subprocess.run(
                [path, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout:
            return path
    return None


def main():
    formatter = find_formatter()
    if formatter is None:
        print(f"SKIP: no clang-format {VERSION} here")
        return 77
    files = tracked(".c", ".h", ".cpp", ".hpp")
    done = subprocess.run([formatter, "--dry-run", "-Werror", *map(str, files)], cwd=ROOT,
                          check=False)
    print(f"{len(files)} files" if done.returncode == 0 else
          f"to format: {formatter} -i FILE...")
    return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())

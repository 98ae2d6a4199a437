# SPDX-License-Identifier: Apache-2.0
"""Runs the program kiln: `python -m kiln record -o app.spool -- python3 app.py`.

The program is the one inside this package, as in a wheel, else the first on the PATH.
"""

import os
import pathlib
import shutil
import sys


def main():
    """Becomes the program, with the same arguments."""
    program = pathlib.Path(__file__).resolve().parent / "bin" / "kiln"
    found = str(program) if program.is_file() else shutil.which("kiln")
    if found is None:
        sys.exit("kiln: no such program inside this package or on the PATH: install the Debian "
                 "package kiln, or a wheel of Kiln")
    os.execv(found, ["kiln", *sys.argv[1:]])


if __name__ == "__main__":
    main()

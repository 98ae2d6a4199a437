# SPDX-License-Identifier: Apache-2.0
"""Runs the program kiln: `python -m kiln record -o app.spool -- python3 app.py`.

The program is the one inside this package, as in a wheel, else the first on the PATH.
"""

import os
import sys

from kiln import _packs


def main():
    """Becomes the program, with the same arguments."""
    try:
        found = _packs.program()
    except _packs.Error as fault:
        sys.exit(f"kiln: {fault}")
    os.execv(found, ["kiln", *sys.argv[1:]])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a start costs under Wine: microseconds from main() to checked results, by turns with Kiln,
which loads the binary of a pack, and without, from a file that holds it.

    wine_start.py KILN FOLDER [ROUNDS]

FOLDER is where the test windows_runtime has built for Windows, with its pack of PoCL's binaries.
Prints medians and their ratio.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

KILN, FOLDER = (Path(word).resolve() for word in sys.argv[1:3])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 31
WINE = [Path(__file__).resolve().parents[2] / "cmake/toolchains/wine.sh",
        shutil.which("wine64") or "/usr/lib/wine/wine64"]


def start(*arguments):
    """Microseconds of one start."""
    environment = {**os.environ, "WINEPREFIX": str(FOLDER / "wine"),
                   "OCL_ICD_VENDORS": str(FOLDER / "icd"),
                   "POCL_CACHE_DIR": str(FOLDER / "pocl_cache")}
    done = subprocess.run([*WINE, FOLDER / "bin/start.exe", *arguments], env=environment,
                          check=True, text=True, stdout=subprocess.PIPE)
    return int(re.search(r"microseconds: (\d+)", done.stdout)[1])


def main():
    """Takes turns."""
    pack = FOLDER / "pocl.kiln"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([KILN, "pack", "inspect", pack, "--extract", folder], check=True,
                       stdout=subprocess.DEVNULL)
        binary = Path(folder, "scale/a_plain.0.bin")
        times = [(start(pack), start("bare", binary)) for _ in range(ROUNDS)]
    kiln, bare = (statistics.median(column) for column in zip(*times))
    print(f"kiln {kiln:.0f} us, bare {bare:.0f} us, ratio {kiln / bare:.2f}")


if __name__ == "__main__":
    main()

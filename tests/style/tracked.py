# SPDX-License-Identifier: Apache-2.0
"""The project's own C and C++ files, for the checks of this folder."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("builder", "kernels", "packs", "runtime", "tests")
GENERATED = ROOT / "packs" / "generated"


def tracked(*suffixes):
    """The files with these suffixes, sorted; without git, all that lie in the folders."""
    done = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", *FOLDERS],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if done.returncode == 0 and done.stdout:
        files = [ROOT / name for name in done.stdout.decode().split("\0") if name]
    else:
        files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")]
    return sorted(path for path in files
                  if path.suffix in suffixes and path.is_file() and GENERATED not in path.parents)

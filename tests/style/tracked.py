# SPDX-License-Identifier: Apache-2.0
"""The project's own C and C++ files, for the checks of this folder."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("android", "builder", "examples", "kernels", "packs", "runtime", "tests")
GENERATED = ROOT / "packs" / "generated"


def listed(*folders):
    """The files that git knows in these folders, in the whole project if none is named; without git
    or its records, all that lie there but builds."""
    try:
        names = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", *folders],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               check=True).stdout.decode()
    except (FileNotFoundError, subprocess.CalledProcessError):
        names = ""
    if names:
        return [ROOT / name for name in names.split("\0") if name]
    places = [path for path in ROOT.iterdir()
              if path.name in folders or (not folders and path.name not in ("build", ".git"))]
    return [path for place in places for path in (place, *place.rglob("*"))]


def tracked(*suffixes):
    """The project's own files with these suffixes, sorted."""
    return sorted(path for path in listed(*FOLDERS)
                  if path.suffix in suffixes and path.is_file() and GENERATED not in path.parents)

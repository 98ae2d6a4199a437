# SPDX-License-Identifier: Apache-2.0
"""Compiles Debian's sources of libraries for Windows, by Debian's MinGW compiler.

Debian has that compiler, but no library that it compiled. The sources are compiled as their own
build files for other compilers do: all C files of some folders, without a configure step.
"""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from registry import LabError

TRIPLET = "x86_64-w64-mingw32"


@dataclass(frozen=True)
class Library:
    """How the sources of a Debian package become lib/lib<name>.a and include/."""

    name: str
    sources: tuple  # globs of C files
    headers: tuple  # folders and files that are copied to include/
    includes: tuple  # folders that the compiler searches
    options: tuple


LIBRARIES = {
    "libzstd": Library(
        "zstd", tuple(f"lib/{part}/*.c" for part in ("common", "compress", "decompress",
                                                    "dictBuilder")),
        ("lib/zstd.h", "lib/zdict.h", "lib/zstd_errors.h"), ("lib",),
        ("-DZSTD_LEGACY_SUPPORT=0", "-DZSTD_DISABLE_ASM=1")),
    # Without what a configure step finds: the plain code of every function.
    "libsodium": Library(
        "sodium", ("src/libsodium/**/*.c",),
        ("src/libsodium/include/sodium.h", "src/libsodium/include/sodium",
         "builds/msvc/version.h"),
        ("src/libsodium/include/sodium", "src/libsodium/include", "builds/msvc"),
        ("-DCONFIGURED=1", "-DSODIUM_STATIC")),
}


def compile_sources(description, root):
    """Unpacks the source package of a .dsc file beside it, and installs its library in root/usr."""
    for tool in (f"{TRIPLET}-gcc", f"{TRIPLET}-ar", "dpkg-source"):
        if not shutil.which(tool):
            raise LabError(f"{tool} is not installed")
    package = description.name.partition("_")[0]
    library = LIBRARIES[package]
    folder = description.parent / package
    shutil.rmtree(folder, ignore_errors=True)
    _call("dpkg-source", "--no-check", "-x", description, folder)
    objects = folder / "objects"
    objects.mkdir()
    flags = ["-O2", "-w", *library.options, *(f"-I{folder / path}" for path in library.includes)]
    jobs = [(path, objects / f"{number}.o") for number, path in enumerate(
        sorted(path for pattern in library.sources for path in folder.glob(pattern)))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda job: _call(f"{TRIPLET}-gcc", "-c", *flags, job[0], "-o", job[1]), jobs))
    target = root / "usr" / "lib" / f"lib{library.name}.a"
    target.unlink(missing_ok=True)
    _call(f"{TRIPLET}-ar", "rcs", target, *(made for _, made in jobs))
    for path in library.headers:
        _install(folder / path, root / "usr" / "include")


def _install(path, include):
    """Copies a header, or a folder of headers; sodium.h looks for version.h in sodium/."""
    if path.is_dir():
        shutil.copytree(path, include / path.name, dirs_exist_ok=True)
    elif path.name == "version.h":
        shutil.copy(path, include / "sodium" / path.name)
    else:
        shutil.copy(path, include / path.name)


def _call(*command):
    """Runs a program; LabError has the end of what it printed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise LabError(f"{Path(str(command[0])).name} failed: {done.stderr.strip()[-300:]}")

# SPDX-License-Identifier: Apache-2.0
"""Bare roots of Debian, with apt and what a test names, to install and use Kiln in."""

import os
import shutil
import subprocess

import mirror
from registry import LabError, lab_dir


def archive(codename, packages=(), variant="apt", is_new=False):
    """The tar archive of a bare root with these packages; made by mmdebstrap where it is not there, or
    anew. The variant is mmdebstrap's: `apt` has least, `minbase` what a small Debian begins with."""
    begin = codename if variant == "apt" else f"{codename}-{variant}"
    path = lab_dir() / "bare" / f"{'+'.join([begin, *packages])}.tar"
    if path.exists() and not is_new:
        return path
    if not shutil.which("mmdebstrap"):
        raise LabError("mmdebstrap is not installed")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.tar")
    # A mirror that keeps a day's packages serves what has expired.
    options = ["Acquire::Check-Valid-Until false", *mirror.proxies()]
    done = subprocess.run(["mmdebstrap", "--quiet", f"--variant={variant}", "--include", ",".join(packages),
                           *(f"--aptopt={option}" for option in options), codename, partial,
                           mirror.host_source().uri],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        partial.unlink(missing_ok=True)
        raise LabError(f"mmdebstrap cannot make a root of {codename}: {done.stderr.strip()[-300:]}")
    partial.rename(path)
    return path

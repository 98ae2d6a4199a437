# SPDX-License-Identifier: Apache-2.0
"""A folder with the scripted driver and PoCL behind it, for tests that run builds."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

DEVICE = """[[platform]]
name = "Scripted platform"
[[platform.device]]
forward = true
name = "Scripted GPU"
"""
# One source in as many variants as N has values.
MANIFEST = """schema = 1
[spirv]
address_bits = [64]
[program.all]
source = "one.cl"
kernels = "all"
[program.all.options]
N = {jobs}
"""
SOURCE = "kernel void fill(global int *out) { out[get_global_id(0)] = N; }\n"
# What PoCL has compiled for seed(), and what that was.
SEED = tempfile.TemporaryDirectory(prefix="kiln-seed-")
SEEDED = set()


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(77)


def need_small_folders(case):
    """Skips the case where bwrap cannot mount, as in a chroot."""
    try:
        done = subprocess.run(["bwrap", "--dev-bind", "/", "/", "true"], stderr=subprocess.PIPE,
                              text=True, check=False)
    except FileNotFoundError:
        case.skipTest("bwrap is not installed")
    if done.returncode != 0:
        case.skipTest(done.stderr.strip())


def need(*libraries):
    """Skips where a driver cannot be loaded, tried in a process of its own."""
    for library in libraries:
        test = f"import ctypes; ctypes.CDLL({library!r})"
        if subprocess.run([sys.executable, "-c", test], stderr=subprocess.DEVNULL,
                          check=False).returncode != 0:
            skip(f"no {library} here")


def use(folder, library, script=None):
    """Writes what a process needs to see that driver alone; its variables."""
    folder = Path(folder)
    for name in ("icd", "home", "tmp"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "icd/one.icd").write_text(library + "\n")
    variables = {"PATH": os.environ["PATH"],
                 "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
                 "HOME": str(folder / "home"),
                 "TMPDIR": str(folder / "tmp"), "OCL_ICD_VENDORS": str(folder / "icd"),
                 "POCL_CACHE_DIR": str(folder / "pocl")}
    if script is not None:
        (folder / "script.toml").write_text(script.replace("{folder}", str(folder)))
        variables["KILN_TEST_DRIVER"] = str(folder / "script.toml")
    return variables


def write_jobs(folder, count):
    """one.toml, a manifest with that many variants."""
    (Path(folder) / "one.toml").write_text(MANIFEST.format(jobs=list(range(count))))
    (Path(folder) / "one.cl").write_text(SOURCE)


def seed(kiln, pack, variables, programs):
    """The variable with which builds begin their caches with what PoCL makes of these programs of a
    pack, "PROGRAM" or "PROGRAM/VARIANT": most of a compilation is reading PoCL's own functions, 9 MB
    of bitcode in each process. Code of launches is not there."""
    for name in programs:
        if name in SEEDED:
            continue
        SEEDED.add(name)
        program, _, variant = name.partition("/")
        subprocess.run([kiln, "explain", program, *(("--variant", variant) if variant else ()),
                        "--pack", pack], stdout=subprocess.DEVNULL, check=True,
                       env={**variables, "POCL_CACHE_DIR": SEED.name})
    return {"KILN_LISTED_CACHES": SEED.name}

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A start whose binaries are all proven writes nothing into its overlay, as strace sees it.

    proven_writes_test.py KILN PACK

Where strace may not trace, the folder is compared before and after instead, times of change
included, and that is said.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

CALLS = ("open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,"
         "unlink,unlinkat,write,pwrite64,writev,ftruncate,truncate,fsync,fdatasync,utimensat,"
         "fallocate,fchmod,chmod")
READING = re.compile(r"^\d+ +open(at)?\(.*O_RDONLY(\|O_(NOFOLLOW|NONBLOCK|DIRECTORY|CLOEXEC))*\) = ")


def main():
    """The exit code."""
    kiln, pack = (Path(argument).absolute() for argument in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        overlay = Path(folder) / "the-overlay"
        starts = [start(kiln, pack, overlay) for _ in range(3)]
        if isinstance(starts[0], str):
            print(f"not traced, the folder is compared: {starts[0]}")
            return compare(kiln, pack, overlay)
    first, second, third = starts
    print(f"calls that write: first start {len(writes(first))}, second {len(writes(second))}, "
          f"third {len(writes(third))}")
    # The first compiles and stores; the second proves what was stored; the third has it easy.
    if not writes(first) or not writes(second):
        print("the starts that must write do not: the trace is blind")
        return 1
    for line in writes(third):
        print(line)
    if not third or writes(third):
        return 1
    print(f"and {len(third)} that only read")
    return 0


def compare(kiln, pack, overlay):
    """The exit code of a start that must leave every file as it is."""
    states = []
    for _ in range(4):
        subprocess.run(command(kiln, pack, overlay), check=True, stdout=subprocess.DEVNULL)
        states.append(sorted((path.name, path.stat().st_size, path.stat().st_ctime_ns)
                             for path in [overlay, *overlay.iterdir()]))
    print(*states[-2:], sep="\n")
    return 0 if states[0] != states[1] and states[-2] == states[-1] else 1


def command(kiln, pack, overlay):
    """One start of an application."""
    return [kiln, "explain", "laplace", "--pack", pack, "--without", "il", "--overlay", overlay]


def start(kiln, pack, overlay):
    """The calls of one start that concern the overlay, or why there can be none."""
    log = overlay.parent / "trace"
    try:
        done = subprocess.run(
            ["strace", "-f", "-y", "-o", log, "-e", f"trace={CALLS}",
             *command(kiln, pack, overlay)], check=False, capture_output=True, text=True)
    except FileNotFoundError:
        return "there is no strace"
    if not log.exists() or "ptrace" in done.stderr.lower():
        return done.stderr.strip()
    if done.returncode != 0:
        sys.exit(f"kiln explain ended with {done.returncode}: {done.stderr}")
    return [line for line in log.read_text().splitlines() if overlay.name in line
            and "execve" not in line]


def writes(lines):
    """Those that do not merely open something to read it."""
    return [line for line in lines if not READING.match(line)]


if __name__ == "__main__":
    sys.exit(main())

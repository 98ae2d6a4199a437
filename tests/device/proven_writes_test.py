#!/usr/bin/env python3
"""A start whose binaries are all proven writes nothing into its overlay, as strace sees it.

    proven_writes_test.py KILN PACK

Exits with 77, and says why, where strace is missing or may not trace.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
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
            print(f"SKIP: {starts[0]}")
            return SKIPPED
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


def start(kiln, pack, overlay):
    """The calls of one start that concern the overlay, or why there can be none."""
    log = overlay.parent / "trace"
    try:
        done = subprocess.run(
            ["strace", "-f", "-y", "-o", log, "-e", f"trace={CALLS}", kiln, "explain", "laplace",
             "--pack", pack, "--no-il", "--overlay", overlay],
            check=False, capture_output=True, text=True)
    except FileNotFoundError:
        return "there is no strace"
    if not log.exists() or "PTRACE" in done.stderr:
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

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The demo where a driver dies at its listing, as PoCL 3.1 without /sys: it ends with a sentence.

    demo_test.py KILN WORK

Exit codes: 0 passed, 1 failed, 77 PoCL or namespaces of users are not here.
"""

import os
import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).with_name("demo.py")
APART = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
         'mount -t tmpfs none /sys && exec "$@"', "sh")


def main():
    kiln, work = sys.argv[1:3]
    if subprocess.run([*APART, "true"], capture_output=True, check=False).returncode:
        print("SKIP: nothing can be mounted here")
        return 77
    if not os.path.exists("/etc/OpenCL/vendors/pocl.icd"):
        print("SKIP: PoCL is not here")
        return 77
    done = subprocess.run([*APART, sys.executable, "-B", DEMO, "--kiln", kiln, "--work", work],
                          capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    lines = done.stderr.splitlines()
    right = (done.returncode == 1 and "Traceback" not in done.stderr
             and "kiln: listing the OpenCL devices: crashed with signal 6 (Aborted)" in lines
             and lines[-1] == "demo: pocl-3.1: ./kiln build ended with exit code 5; "
                              "`build/release/bin/kiln devices` shows whether the driver works here")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands for adb: a phone is a folder of PHONES, where its commands run on this machine.

What it is asked goes to PHONES/transcript. A phone whose folder has a file `vanishes` is gone after
that many more commands.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

PHONES = Path(os.environ["PHONES"])
TEMPORARY = "/data/local/tmp"


def fail(text):
    """Ends as adb does."""
    print(f"adb: {text}", file=sys.stderr)
    sys.exit(1)


def find(serial):
    """The phone's folder."""
    phone = PHONES / serial
    left = phone / "vanishes"
    if left.exists():
        count = int(left.read_text(encoding="utf-8"))
        if count == 0:
            fail(f"device '{serial}' not found")
        left.write_text(str(count - 1), encoding="utf-8")
    if not phone.is_dir():
        fail(f"device '{serial}' not found")
    return phone


def main(words):
    """One command: devices, or -s SERIAL and push, pull or shell."""
    with open(PHONES / "transcript", "a", encoding="utf-8") as transcript:
        print("adb", *words, file=transcript)
    if words == ["devices"]:
        print("List of devices attached")
        for phone in sorted(path for path in PHONES.iterdir() if path.is_dir()):
            print(f"{phone.name}\tdevice")
        print("locked\tunauthorized\n")
        return
    option, serial, command, *rest = words
    phone = find(serial)

    def local(path):
        return path.replace(TEMPORARY, str(phone))

    if option != "-s":
        fail(f"unknown option {option}")
    if command == "push":
        source, target = rest
        if not Path(local(target)).parent.is_dir():
            fail(f"error: failed to copy '{source}' to '{target}'")
        shutil.copyfile(source, local(target))  # whose mode is the phone's
    elif command == "pull":
        source, target = rest
        if not Path(local(source)).exists():
            fail(f"error: failed to stat remote object '{source}': No such file or directory")
        shutil.copytree(local(source), target)
    elif command == "shell":
        # The phone's shell gets the words as one line, and no standard input after -n.
        done = subprocess.run(["sh", "-c", local(" ".join(rest[1:]))], stdin=subprocess.DEVNULL,
                              check=False)
        sys.exit(done.returncode)
    else:
        fail(f"unknown command {command}")


main(sys.argv[1:])

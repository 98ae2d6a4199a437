#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""minisign asks for the password of a key, at the terminal and in a script; Kiln never sees it.

    minisign_test.py KILN

Keys without a password are in tests/cli/sign.case. Exit codes: 0 passed, 1 failed, 77 no minisign.
"""

import os
import pty
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent.parent / "packs" / "golden"
PASSWORD = "kiln's password"


class Case:
    """A folder with a pack and a key with a password, and what failed."""

    def __init__(self, kiln, folder):
        self.folder = folder
        self.kiln_path = kiln
        self.faults = 0
        shutil.copy(GOLDEN / "good-v1-bases.kiln", folder / "p.kiln")
        self.run("minisign", "-G", "-p", "secret.pub", "-s", "secret.key",
                 text=f"{PASSWORD}\n{PASSWORD}\n")

    def run(self, *command, exit_code=0, says="", text=""):
        """A command that must end with that code and say that, `text` on its standard input."""
        done = subprocess.run([str(word) for word in command], cwd=self.folder, input=text,
                              capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        if done.returncode == exit_code and says in said and PASSWORD not in said:
            return
        self.faults += 1
        print(f"FAIL {command}: {done.returncode}, expected {exit_code} and {says!r}:\n{said}")

    def kiln(self, *words, **expected):
        """kiln itself."""
        self.run(self.kiln_path, *words, **expected)

    def kiln_at_terminal(self, *words, asked=1):
        """kiln where the password is typed whenever something asks for it, which must be so often."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execv(self.kiln_path, [self.kiln_path, *words])
        shown = b""
        try:
            while part := os.read(terminal, 4096):
                shown += part
                if shown.endswith(b"Password: "):
                    os.write(terminal, PASSWORD.encode() + b"\n")
        except OSError:  # the end, as Linux tells it
            pass
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        text = shown.decode()
        if code != 0 or text.count("Password: ") != asked or PASSWORD in text:
            self.faults += 1
            print(f"FAIL {words} at a terminal: {code}: {text!r}")


def sign(case):
    """Without a terminal and at one."""
    embed = ["pack", "sign", "p.kiln", "--secret-key", "secret.key", "-o", "signed.kiln"]
    case.kiln(*embed, text="another\n", exit_code=1, says="minisign did not sign")
    case.kiln(*embed, exit_code=1, says="minisign did not sign")
    case.kiln("pack", "verify", "signed.kiln", exit_code=4, says="No such file")
    case.kiln(*embed, text=f"{PASSWORD}\n", says="signed as revision 1")
    case.kiln("pack", "verify", "signed.kiln", "--key", "secret.pub", says="revision 1, signed by the key")
    case.kiln_at_terminal("pack", "sign", "signed.kiln", "--secret-key", "secret.key", "--revision", "9")
    case.kiln("pack", "verify", "signed.kiln", "--key", "secret.pub", "--min-revision", "9",
              says="revision 9, signed by the key")


def publish(case):
    """The password once for all packs, and once for the index."""
    case.kiln_at_terminal("fleet", "publish", "p.kiln", "--to", "published", "--secret-key", "secret.key",
                          "--expires", "2999-01-01", "--revision", "2", asked=2)
    for target in ([], ["--target", "*model 1*"], ["--target", "*model 2*"]):
        case.kiln("fleet", "fetch", "published", *target, "-o", "mine.kiln", says="revision 2")
        case.kiln("pack", "verify", "mine.kiln", "--key", "secret.pub", "--min-revision", "2",
                  says="revision 2, signed by the key")


def main(kiln):
    """The exit code."""
    if shutil.which("minisign") is None:
        print("SKIP: minisign is not here (Debian's package minisign)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        case = Case(kiln, Path(folder))
        sign(case)
        publish(case)
        print(f"{case.faults} faults")
        return 1 if case.faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

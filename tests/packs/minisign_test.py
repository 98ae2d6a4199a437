#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kiln and minisign take each other's keys and detached signatures.

    minisign_test.py KILN

Exit codes: 0 passed, 1 failed, 77 no minisign.
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
    """A folder with a pack, and what failed in it."""

    def __init__(self, kiln, folder):
        self.folder = folder
        self.kiln_path = kiln
        self.faults = 0

    def run(self, *command, exit_code=0, says="", text="", **variables):
        """A command that must end with that code and say that."""
        done = subprocess.run([str(word) for word in command], cwd=self.folder, input=text,
                              env={**os.environ, **variables}, capture_output=True, text=True,
                              check=False)
        said = done.stdout + done.stderr
        if done.returncode == exit_code and says in said:
            return
        self.faults += 1
        print(f"FAIL {command}: {done.returncode}, expected {exit_code} and {says!r}:\n{said}")

    def kiln(self, *words, **expected):
        """kiln itself."""
        self.run(self.kiln_path, *words, **expected)

    def kiln_at_terminal(self, *words):
        """What kiln shows where the password is typed, and its exit code."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execv(self.kiln_path, [self.kiln_path, *words])
        shown = b""
        try:
            while part := os.read(terminal, 4096):
                shown += part
                if part.endswith(b": "):
                    os.write(terminal, PASSWORD.encode() + b"\n")
        except OSError:  # the end, as Linux tells it
            pass
        return shown.decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def own_key(case):
    """minisign checks what a key of Kiln's signed, and signs with it."""
    case.kiln("keygen", "-o", "own")
    case.kiln("sign", "p.kiln", "--key", "own.key", "--detached", "--revision", "4")
    line = (case.folder / "own.pub").read_text().splitlines()[1]
    check = ["minisign", "-Vm", "p.kiln.statement"]
    trusted = "Signature and comment signature verified\nTrusted comment: kiln pack, revision 4"
    case.run(*check, "-P", line, says=trusted)
    case.run(*check, "-p", "own.pub", says=trusted)
    case.run("minisign", "-S", "-s", "own.key", "-m", "p.kiln.statement")
    case.kiln("verify", "p.kiln", "--key", line, "--signature", "p.kiln.statement.minisig",
              exit_code=4, says="[conflict]")  # the golden pack's variants, and nothing else
    case.kiln("verify", "p.kiln", "--key", line, "--signature", "p.kiln.statement.minisig",
              "--revision", "5", exit_code=4, says="revision 4, and the smallest that is demanded")
    statement = case.folder / "p.kiln.statement"
    statement.write_text(statement.read_text().replace("revision 4", "revision 5"))
    case.run(*check, "-p", "own.pub", exit_code=1, says="Signature verification failed")


def its_keys(case):
    """Kiln signs with minisign's keys, with a password and without."""
    case.run("minisign", "-G", "-W", "-p", "plain.pub", "-s", "plain.key")
    case.kiln("sign", "p.kiln", "--key", "plain.key", "--detached")
    case.run("minisign", "-Vm", "p.kiln.statement", "-p", "plain.pub", says="verified")
    case.run("minisign", "-G", "-p", "secret.pub", "-s", "secret.key",
             text=f"{PASSWORD}\n{PASSWORD}\n")
    sign = ["sign", "p.kiln", "--key", "secret.key", "--detached", "--revision", "9"]
    case.kiln(*sign, KILN_KEY_PASSWORD="another", exit_code=2, says="the password is wrong")
    case.kiln(*sign, KILN_KEY_PASSWORD=PASSWORD, says="revision 9")
    case.run("minisign", "-Vm", "p.kiln.statement", "-p", "secret.pub", says="verified")
    shown, code = case.kiln_at_terminal(*sign)
    if code != 0 or "password of secret.key: " not in shown or PASSWORD in shown:
        case.faults += 1
        print(f"FAIL at a terminal: {code}: {shown!r}")


def main(kiln):
    """The exit code."""
    if shutil.which("minisign") is None:
        print("SKIP: minisign is not here (Debian's package minisign)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        case = Case(kiln, Path(folder))
        shutil.copy(GOLDEN / "good-v1.kiln", case.folder / "p.kiln")
        own_key(case)
        its_keys(case)
        print(f"{case.faults} faults")
        return 1 if case.faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds that are interrupted: what they end with, leave behind and keep.

    interrupt_test.py KILN TEST-DRIVER

TEST-DRIVER is the scripted driver, behind which PoCL compiles. KILN_INTERRUPTS is the number of
moments at which builds are interrupted, default 8. Exit codes: 0 passed, 1 failed, 77 a driver or a
tool is not installed.
"""

import contextlib
import fcntl
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import scripted

KILN, DRIVER = sys.argv[1:3]
MOMENTS = int(os.environ.get("KILN_INTERRUPTS", "8"))
JOBS = 6
AT_ONCE = 2
MARK = "KILN_TEST_MARK"  # in the environment of every process of a test
SIGNALS = (signal.SIGINT, signal.SIGTERM)
SCRIPT = 'log = "{folder}/calls"\n' + scripted.DEVICE + """[[fault]]
at = "clBuildProgram"
"""
SLOW = 'do = "slow"\nmilliseconds = 150'
HANG = 'do = "hang"'
COMPILER = """schema = 1
name = "described"
tools = "described 1"
command = ["{folder}/compiler", "{{input}}", "{{output}}"]
[identity]
device_vendor = "ARM"
device_name = "Mali-G710 r0p0"
device_version = "OpenCL 3.0 v1.r51p0-00eac0"
address_bits = "64"
"""
# It has a child in its own process group, one that has left it, and files.
SCRIPT_THAT_HANGS = """#!/bin/sh
echo a > "$TMPDIR/of-the-tool"
setsid sleep 1000 &
sleep 1000 &
touch {folder}/reached
wait
"""


def marked_processes(mark):
    """The processes that have the mark in their environment, with what they run."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_bytes()
    return found


class Place:
    """A folder with a base pack, one driver, and a folder for temporary files."""

    def __init__(self, fault=SLOW, jobs=JOBS, store=True):
        self.temporary = tempfile.TemporaryDirectory(prefix="kiln-interrupt-")
        self.folder = Path(self.temporary.name)
        self.variables = {**scripted.use(self.folder, DRIVER, SCRIPT + fault + "\n"),
                          "KILN_STORE": str(self.folder / "jobs.sqlite") if store else "none",
                          MARK: self.folder.name}
        scripted.write_jobs(self.folder, jobs)
        with self.start("compile", "one.toml", "-o", "base.kiln") as made:
            err = made.communicate()[1]
        if made.returncode == 5:
            scripted.skip(err.strip())

    def start(self, *words, **options):
        return subprocess.Popen([KILN, *words], cwd=self.folder, text=True, env=self.variables,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def start_build(self, *words, **options):
        return self.start("build", "base.kiln", "-o", "out.kiln", "-j", str(AT_ONCE),
                          "--no-finish", "--json", *words, **options)

    def add_compiler(self):
        """The words for a compiler that never ends."""
        (self.folder / "compiler.toml").write_text(COMPILER.format(folder=self.folder))
        compiler = self.folder / "compiler"
        compiler.write_text(SCRIPT_THAT_HANGS.format(folder=self.folder))
        compiler.chmod(0o755)
        return ("--virtual", "compiler.toml")

    def compiled(self):
        """How many programs were built from source, or began to be, by any process."""
        calls = self.folder / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        return sum(" clBuildProgram source " in line for line in lines)

    def stored(self):
        with contextlib.closing(sqlite3.connect(self.folder / "jobs.sqlite")) as database:
            return database.execute(
                "select count(*) from jobs where device != 'the host'").fetchone()[0]


def is_locked(folder):
    """Whether a process has the temporary folder still, if only on its way out."""
    with contextlib.suppress(FileNotFoundError), open(folder / ".kiln-lock", "rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def wait_until(condition, process):
    while not condition() and process.poll() is None:
        time.sleep(0.001)


class Interrupts(unittest.TestCase):
    def check_end(self, place, process, number):
        """Of an interrupted build; its standard error."""
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, -number, err)  # 128 more in a shell
        self.assertEqual(out, "")
        self.assertEqual(marked_processes(place.folder.name), {})
        self.assertEqual(list((place.folder / "tmp").iterdir()), [])
        self.assertFalse((place.folder / "out.kiln").exists())
        return err

    def test_a_build_interrupted_at_any_moment_leaves_nothing_and_goes_on(self):
        place = Place()
        moments = 0
        for i in range(MOMENTS):
            number = SIGNALS[i % 2]
            before = place.compiled()
            with place.start_build() as process:
                wait_until(lambda: place.compiled() > before, process)
                time.sleep(0.04 * i)  # somewhere within a job, or the next
                if process.poll() is not None:
                    break
                process.send_signal(number)
                err = self.check_end(place, process, number)
            moments += 1
            self.assertEqual(err, "kiln: interrupted; the store has the jobs that ended, and the "
                                  "same command goes on from there\n")
            self.assertLessEqual(place.compiled(), place.stored() + AT_ONCE * moments)
        self.assertGreaterEqual(moments, 3)
        with place.start_build() as process:
            out, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        result = json.loads(out)
        self.assertEqual(result["stored"] + result["compiled"] + result["reused"], JOBS)
        self.assertLessEqual(place.compiled(), JOBS + AT_ONCE * moments)
        self.assertEqual(list((place.folder / "tmp").iterdir()), [])

    def test_drivers_that_hang_are_ended_by_ctrl_c_of_a_terminal(self):
        place = Place(HANG, store=False)
        with place.start_build(start_new_session=True) as process:
            wait_until(lambda: place.compiled() == AT_ONCE, process)
            os.killpg(process.pid, signal.SIGINT)
            err = self.check_end(place, process, signal.SIGINT)
        self.assertEqual(err, "kiln: interrupted; without a store nothing of it is kept\n")

    def test_the_next_command_removes_what_a_killed_build_left_and_nothing_of_a_live_one(self):
        place = Place(HANG, store=False)
        tmp = place.folder / "tmp"
        with place.start_build() as alive, contextlib.ExitStack() as ends:
            ends.callback(alive.terminate)
            wait_until(lambda: place.compiled() == AT_ONCE, alive)
            processes, folders = set(marked_processes(place.folder.name)), set(tmp.iterdir())
            with place.start_build() as killed:
                wait_until(lambda: place.compiled() == 2 * AT_ONCE, killed)
                killed.kill()
            left = set(tmp.iterdir()) - folders
            self.assertEqual((len(folders), len(left)), (1, 1))
            wait_until(lambda: set(marked_processes(place.folder.name)) <= processes, alive)
            wait_until(lambda: not is_locked(*left), alive)
            with place.start("compile", "one.toml", "-o", "base.kiln") as made:
                err = made.communicate(timeout=60)[1]
            self.assertEqual(made.returncode, 0, err)
            self.assertEqual(set(tmp.iterdir()), folders)
            self.assertTrue(any(folders.pop().glob("kiln-*/*")))  # as it was
            alive.send_signal(signal.SIGTERM)
            self.check_end(place, alive, signal.SIGTERM)

    def test_compilers_and_what_they_started_are_ended(self):
        for number in SIGNALS:
            place = Place(jobs=1)
            with place.start_build(*place.add_compiler()) as process:
                wait_until((place.folder / "reached").exists, process)
                self.assertGreaterEqual(len(marked_processes(place.folder.name)), 4)
                process.send_signal(number)
                self.check_end(place, process, number)

    def test_a_second_interrupt_changes_nothing(self):
        place = Place(HANG)
        with place.start_build(start_new_session=True) as process:
            wait_until(lambda: place.compiled() == AT_ONCE, process)
            for _ in range(3):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGINT)
            self.check_end(place, process, signal.SIGINT)

    def test_a_build_that_ignores_hangups_goes_on(self):
        place = Place()
        with place.start_build(
                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
            wait_until(lambda: place.compiled() > 0, process)
            process.send_signal(signal.SIGHUP)
            err = process.communicate()[1]
        self.assertEqual(process.returncode, 0, err)

    def test_a_build_whose_working_process_dies_leaves_nothing(self):
        place = Place(HANG)
        with place.start_build() as process:
            wait_until(lambda: place.compiled() == AT_ONCE, process)
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
            os.kill(int(children.split()[0]), signal.SIGSEGV)
            self.check_end(place, process, signal.SIGSEGV)


if __name__ == "__main__":
    scripted.need("libpocl.so.2")
    unittest.main(argv=sys.argv[:1])

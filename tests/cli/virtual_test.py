#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kiln build --virtual` with the scripted driver in the place of Intel's, in a root of its own.

    virtual_test.py KILN TEST-DRIVER

The root's driver is TEST-DRIVER with names of products added behind it, and PoCL compiles. Exit
codes: 0 passed, 1 failed, 77 a driver or a tool is not installed.
"""

import contextlib
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

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

KILN, DRIVER = sys.argv[1:3]
JOBS = 3  # of tiny.toml
LIBRARY = "usr/lib/x86_64-linux-gnu/libigdrcl.so"
LOADER = "/lib64/ld-linux-x86-64.so.2"
MACHINE = 18  # place of an ELF file's architecture
TINY = Path(__file__).with_name("fixtures") / "tiny"
DEVICE = 'log = "{folder}/calls"\n' + scripted.DEVICE + 'driver_version = "1"\n'
IDLE = """[[fault]]
at = "clEnqueueNDRangeKernel"
do = "skip"
"""
LABEL = "Scripted GPU (driver 1)"
FAULT = """[[fault]]
at = "{at}"
do = "{do}"
"""
COPIES = """schema = 1
name = "copies"
tools = "cp of coreutils"
command = ["cp", "{input}", "{output}"]
[identity]
device_vendor = "ARM"
device_name = "Mali-G610 r0p0"
"""


class Place:
    """A folder with a base pack, and a root with the driver."""

    def __init__(self, *faults):
        self.temporary = tempfile.TemporaryDirectory(prefix="kiln-virtual-")
        self.folder = Path(self.temporary.name)
        self.root = self.folder / "root"
        library = Path(DRIVER).read_bytes() + b"\0skl\0tgllp\0"
        for name, content in (("root/etc/OpenCL/vendors/intel.icd", f"/{LIBRARY}\n".encode()),
                              (f"root/{LIBRARY}", library), ("copies.toml", COPIES.encode())):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        self.seed = {}
        self.script(*faults)
        done = self.kiln("compile", TINY / "tiny.toml", "-o", "base.kiln")
        if done.returncode == 5:
            scripted.skip(done.stderr.strip())
        self.seed = scripted.seed(KILN, self.folder / "base.kiln", self.variables,
                                  ("copy/plain", "threshold/spare"))

    def script(self, *faults):
        self.variables = scripted.use(self.folder, DRIVER, DEVICE + "".join(faults))

    def start(self, *words, before=()):
        variables = {**self.variables, "KILN_STORE": str(self.folder / "jobs.sqlite"),
                     "KILN_NEO_ROOT": "root", **self.seed}
        return subprocess.Popen([*before, KILN, *words], cwd=self.folder, text=True, env=variables,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True)

    def kiln(self, *words, before=()):
        with self.start(*words, before=before) as process:
            out, err = process.communicate()
            return subprocess.CompletedProcess(words, process.returncode, out, err)

    def build(self, spec, *words, output="out.kiln"):
        return self.kiln("build", "base.kiln", "--virtual", spec, "--json", "-o",
                         output, *words)

    def finishes(self, pack="out.kiln"):
        """How the binaries of a pack were made: (final, why not, finisher) by target."""
        listed = json.loads(self.kiln("pack", "inspect", pack, "--json").stdout)
        return {target["label"]: {tuple(binary["provenance"]["finish"][name] for name in
                                        ("final", "why_not_final", "finisher"))
                                  for binary in target["binaries"]}
                for target in listed["targets"]}


class Builds(unittest.TestCase):
    def place(self, *faults):
        place = Place(*faults)
        self.addCleanup(place.temporary.cleanup)
        return place

    def check(self, done, code, **counts):
        """The exit code and members of the summary."""
        self.assertEqual(done.returncode, code, done.stderr)
        summary = json.loads(done.stdout)
        self.assertEqual({name: summary[name] for name in counts}, counts)
        return summary

    def check_empty(self, place):
        left = [path.name for path in (place.folder / "tmp").iterdir()]
        self.assertEqual(left, [])

    def test_the_pack_says_how_it_was_made_and_is_used_again(self):
        place = self.place(IDLE)
        self.check(place.build("neo:skl"), 0, targets=1, compiled=JOBS)
        self.assertEqual(place.finishes(), {LABEL: {(
            "not launched",
            "loaded by its driver without hardware",
            "virtual-neo 1 as skl, pocl-work-groups 1")}})
        before = (place.folder / "out.kiln").read_bytes()
        self.check(place.build("neo:skl"), 0, reused=JOBS, up_to_date=True)
        self.assertEqual((place.folder / "out.kiln").read_bytes(), before)
        self.check(place.build("neo:skl", output="other.kiln"), 0, stored=JOBS)
        self.check(place.build("neo:skl", "--fresh"), 0, compiled=JOBS)
        self.check_empty(place)

    def test_a_device_of_the_kind_builds_anew(self):
        place = self.place(IDLE)
        self.check(place.build("neo:skl"), 0, compiled=JOBS)
        plan = json.loads(place.kiln("build", "--dry-run", "base.kiln", "-o", "out.kiln", "--json").stdout)
        self.assertEqual({job["reason"] for job in plan["jobs"]},
                         {"no device of this kind has launched the earlier binary"})
        place.script()
        done = place.kiln("build", "base.kiln", "--fresh", "-o", "device.kiln", "--json")
        self.check(done, 0, compiled=JOBS)
        place.kiln("pack", "merge", "out.kiln", "device.kiln", "-o", "merged.kiln")
        finishes = place.finishes("merged.kiln")
        self.assertEqual(finishes, place.finishes("device.kiln"))
        self.assertEqual(finishes, {LABEL: {("yes", "", "pocl-work-groups 1")}})

    def test_what_is_asked_for_together_is_one_pack(self):
        place = self.place(IDLE)
        done = place.build("neo:skl,tgllp,skl", "--virtual", "copies.toml")
        self.check(done, 0, targets=2, compiled=2 * JOBS)
        self.assertIn("kiln: neo:skl: named twice, built for once\n", done.stderr)
        self.assertIn("neo:tgllp: has the binary key of neo:skl, whose binaries it gets\n",
                      done.stderr)
        self.assertEqual(place.finishes().keys(), {LABEL, "Mali-G610 r0p0 (driver )"})
        done = place.build("neo:skl", "--virtual", "copies.toml", "--device", "0", output="2.kiln")
        self.check(done, 0, targets=2, compiled=JOBS, stored=JOBS)
        self.assertRegex(done.stderr, r"neo:skl: has the binary key of .*Scripted GPU \(driver 1\), ")

    def test_its_jobs_are_in_the_plan_and_in_the_events(self):
        place = self.place(IDLE)
        words = ("base.kiln", "--virtual", "neo:skl")
        planned = json.loads(place.kiln("build", "--dry-run", *words, "--json").stdout)["jobs"]
        self.assertEqual([(job["device"], job["need"]) for job in planned],
                         [("neo:skl", "compile")] * JOBS)
        done = place.build("neo:skl", "--events", "events", "--jobs", "2")
        self.check(done, 0, compiled=JOBS)
        events = [json.loads(line) for line in (place.folder / "events").read_text().splitlines()]
        self.assertEqual((events[0]["event"], events[0]["jobs"], events[0]["workers"]),
                         ("begin", JOBS, 2))
        ends = [event for event in events if event["event"] == "done"]
        self.assertEqual([event["device"] for event in ends], ["neo:skl"] * JOBS)
        for event in ends:
            self.assertGreater(event["build_microseconds"], 0)

    def test_shards_merge_to_the_whole(self):
        place = self.place(IDLE)
        self.check(place.build("neo:skl", output="whole.kiln"), 0, compiled=JOBS)
        parts = [self.check(place.build("neo:skl", "--shard", f"{i}/2", output=f"{i}.kiln"), 0)
                 for i in (1, 2)]
        self.assertEqual([part["stored"] + part["other_shards"] for part in parts], [JOBS, JOBS])
        self.assertEqual(sum(part["stored"] for part in parts), JOBS)
        place.kiln("pack", "merge", "1.kiln", "2.kiln", "-o", "merged.kiln")
        whole, merged = ((place.folder / name).read_bytes()
                         for name in ("whole.kiln", "merged.kiln"))
        self.assertEqual(whole, merged)

    def test_a_driver_that_dies_is_named_and_the_rest_is_done(self):
        once = FAULT.format(at="clGetDeviceInfo", do="segv") + 'once = "{folder}/once"\n'
        place = self.place(once, IDLE)
        done = place.build("neo:skl,tgllp")
        self.check(done, 1, targets=1, compiled=JOBS)
        self.assertIn("kiln: neo:skl: listing the OpenCL devices: crashed with signal 11",
                      done.stderr)
        place = self.place(FAULT.format(at="clGetDeviceInfo", do="abort"))
        done = place.build("neo:skl")
        self.assertEqual((done.returncode, done.stdout), (5, ""))
        self.assertFalse((place.folder / "out.kiln").exists())
        self.check_empty(place)

    def test_a_product_that_the_driver_does_not_know_is_named(self):
        place = self.place(IDLE)
        done = place.build("neo:skl,dg2")
        self.check(done, 1, targets=1, compiled=JOBS)
        self.assertRegex(done.stderr, "neo:dg2: this driver does not know it: .* knows skl, tgllp")
        self.assertEqual(place.build("neo:dg2", output="no.kiln").returncode, 5)

    def test_jobs_that_hang_or_die_fail_by_name_and_are_tried_again(self):
        hang = FAULT.format(at="clBuildProgram", do="hang") + 'form = "source"\nnth = 1\n'
        place = self.place(hang, IDLE)
        done = place.build("neo:skl", "--timeout", "2", "--jobs", "1")
        summary = self.check(done, 1, targets=0, compiled=0)
        self.assertEqual(len(summary["failures"]), JOBS)
        self.assertEqual(summary["failures"][0]["job"], "copy/plain for neo:skl")
        self.assertIn("gave no answer in time and was killed", done.stderr)

    def test_a_root_of_another_architecture_is_refused(self):
        place = self.place(IDLE)
        library = bytearray((place.root / LIBRARY).read_bytes())
        library[MACHINE] ^= 0xff
        (place.root / LIBRARY).write_bytes(library)
        done = place.build("neo:skl")
        self.assertEqual(done.returncode, 5)
        self.assertIn("of another architecture than this program", done.stderr)

    def test_what_lies_beside_the_builder_is_found_under_a_dynamic_loader(self):
        if not Path(LOADER).exists():
            self.skipTest(f"no {LOADER}")
        place = self.place()
        words = ("run", "threshold", "--pack", "base.kiln", "--size", "8x8")
        plain, loaded = (place.kiln(*words, before=before) for before in ([], [LOADER]))
        self.assertNotIn("give --references", plain.stderr)
        self.assertEqual((loaded.returncode, loaded.stderr), (plain.returncode, plain.stderr))

    def test_an_interrupt_ends_all_and_loses_what_was_running_alone(self):
        slow = FAULT.format(at="clBuildProgram", do="slow") + 'milliseconds = 500\nform = "source"\n'
        place = self.place(slow, IDLE)
        words = ("build", "base.kiln", "--virtual", "neo:skl", "--jobs", "1",
                 "-o", "out.kiln")
        with place.start(*words) as process:
            while process.poll() is None and self._stored(place.folder / "jobs.sqlite") == 0:
                time.sleep(0.05)
            os.kill(process.pid, signal.SIGINT)
            process.communicate()
            self.assertIn(process.returncode, (-signal.SIGINT, 130))
            self._expect_no_process(process.pid)
        summary = json.loads(place.build("neo:skl").stdout)
        self.assertGreater(summary["stored"], 0)
        self.assertEqual(summary["stored"] + summary["compiled"], JOBS)

    def _stored(self, store):
        """Devices' jobs in the store, which may not be there yet."""
        try:
            with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
                return database.execute(
                    "select count(*) from jobs where device != 'the host'").fetchone()[0]
        except sqlite3.OperationalError:
            return 0

    def _expect_no_process(self, session):
        """All that the command started ends with it."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if not any(_session_of(folder) == session for folder in Path("/proc").glob("[0-9]*")):
                return
            time.sleep(0.05)
        self.fail("processes of the build are left")


def _session_of(folder):
    """The session of a process that still runs; None for one that ended."""
    try:
        state = (folder / "stat").read_text().rpartition(")")[2].split()
        return None if state[0] in "ZX" else int(state[3])
    except OSError:
        return None


if __name__ == "__main__":
    scripted.need("libpocl.so.2")
    skips.run_cases(sys.argv[3:])

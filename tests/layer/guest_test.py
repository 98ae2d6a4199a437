#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layer is a guest in the application's process: the application's descriptors, files and
children are as without Kiln, whatever it closes, and Kiln creates no kernels of its programs.

    guest_test.py KILN LAYER APPLICATION [TEST...]

APPLICATION is guest.c of this folder. OCL_ICD_VENDORS chooses the driver.

Exit codes: 0 passed, 1 failed, 77 there is no device.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from layer_test import (APPLICATION, FOLDER, KILN, PLACE, SEED, end_without_core,
                        environment, lines_of, link_programs, must, programs_in,
                        run_seeded as run, seeded)

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

# Between each two things that the application does, it closes all that it did not open.
CLOSING = ("close", "build", "close", "open", "build", "build", "close", "open", "folder", "build",
           "build")
BUILDS = CLOSING.count("build")
OWN = b"what the application has to say.\r\n"


class Guest(unittest.TestCase):
    """Starts of the application, each in a folder of its own."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.alone = cls.start(Path(tempfile.mkdtemp(dir=FOLDER)))
        if cls.alone.returncode == 77:
            print("SKIP: there is no OpenCL device")
            sys.exit(77)
        cls.place = Path(tempfile.mkdtemp(prefix="guest", dir=FOLDER))
        spool, base, cls.pack = (str(cls.place / name) for name in ("spool", "base.kiln", "app.kiln"))
        done = cls.start(cls.place, KILN, "record", "-o", spool, "--")
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        must("compile", spool, "-o", base)
        must("build", base, "-o", cls.pack)

    @staticmethod
    def start(folder, *before, words=CLOSING, **variables):
        """Runs the application in that folder."""
        (folder / "own").mkdir(exist_ok=True)
        variables = {**seeded(), **variables}
        done = subprocess.run([*map(str, before), APPLICATION, *words],
                              env=environment(**variables), cwd=folder, capture_output=True,
                              text=True, check=False)
        link_programs(Path(variables["POCL_CACHE_DIR"]), SEED)
        return done

    def served(self, *options):
        """Runs it under kiln serve: the report's lines of programs."""
        folder = Path(tempfile.mkdtemp(dir=self.place))
        report = folder / "report"
        done = self.start(folder, KILN, "serve", *options, "--report",
                          f"{report}/", "--")
        self.assertEqual((done.returncode, done.stdout), (0, self.alone.stdout), done.stderr)
        self.assertEqual({path.name: path.read_bytes() for path in folder.glob("own*.txt")},
                         {"own-1.txt": OWN, "own-2.txt": OWN})
        self.assertEqual(os.listdir(folder / "own"), [])
        return [line for path in sorted(report.iterdir()) for line in lines_of(path)
                if "program" in line]

    def test_a_pack(self):
        """All programs are served from it, also after its descriptor is closed."""
        lines = self.served("--pack", self.pack)
        self.assertEqual([line["outcome"] for line in lines], ["served"] * BUILDS, lines)

    def test_an_overlay(self):
        """The second start tries its binaries behind markers, and the third knows them."""
        overlay = self.place / "overlay"
        self.served("--overlay", overlay)
        must("overlay", "build", overlay)
        for _ in range(2):
            lines = self.served("--overlay", overlay)
            self.assertEqual([line["outcome"] for line in lines], ["served"] * BUILDS, lines)

    def test_a_pack_and_an_overlay(self):
        """The first start tries the pack's binaries behind markers."""
        lines = self.served("--pack", self.pack, "--overlay", self.place / "beside")
        self.assertEqual([line["outcome"] for line in lines], ["served"] * BUILDS, lines)

    def test_kernels_that_nobody_asks_for(self):
        """Are created neither in a recorded nor in a served run."""
        folder = Path(tempfile.mkdtemp(dir=self.place))
        words = ("panic", "build", "panic")
        alone = self.start(folder, words=words)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        for options in (("record", "-o", "spool"), *[("serve", "--overlay", "overlay")] * 3):
            done = self.start(folder, KILN, *options, "--", words=words)
            self.assertEqual((done.returncode, done.stdout), (0, alone.stdout), done.stderr)
            if options[0] == "serve":  # what the builder dies of stays the driver's
                run(KILN, "overlay", "build", folder / "overlay")

    def test_a_launch_that_does_not_end(self):
        """When it is repeated, on zeros: what is built beside it is kept meanwhile and served, and
        it is ended and repeated once."""
        if os.environ["OCL_ICD_VENDORS"].endswith("rusticl"):
            return  # llvmpipe ends each loop after 65,535 turns
        folder = Path(tempfile.mkdtemp(dir=self.place))
        overlay, report = folder / "overlay", folder / "report"
        words = ("endless", "build", "build")

        def serve():
            report.unlink(missing_ok=True)
            done = self.start(folder, KILN, "serve", "--overlay", overlay,
                              "--report", report, "--", words=words)
            self.assertEqual(done.returncode, 0, done.stderr)
            return [line["outcome"] for line in lines_of(report)]

        self.assertEqual(serve(), ["passed"] * 3)
        building = subprocess.Popen([KILN, "overlay", "build", overlay, "-j2"],
                                    env=environment(**seeded()),
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while building.poll() is None and len(programs_in(overlay)) < 2:
                time.sleep(0.1)
            self.assertIsNone(building.poll())
        finally:
            building.kill()
            building.wait()
        self.assertEqual(sorted(serve()), ["passed", "served", "served"])
        must("overlay", "build", overlay, "--timeout", "4")  # 2 s for the launch
        pack = folder / "own.kiln"
        must("overlay", "pack", overlay, "-o", pack)
        listed = json.loads(must("pack", "inspect", pack, "--json").output)
        finishes = [binary["provenance"]["finish"] for target in listed["targets"]
                    for binary in target["binaries"]]
        (text,) = {finish["why_not_final"] for finish in finishes} - {""}
        self.assertIn("repeating a recorded launch: it did not end", text)
        words = ("endless", "endless")
        self.assertEqual(serve(), ["served"] * 2)  # and a new launch is noted
        before = time.monotonic()
        done = json.loads(must("overlay", "build", overlay, "--json").output)
        self.assertEqual((done["built"], done["failures"]), (0, []))
        self.assertLess(time.monotonic() - before, 15)
        self.assertFalse(list((overlay / "noted").glob("*/cl-*")))

    def test_deaths_in_a_launch(self):
        """Two in first launches of a binary, and the next start compiles the program. Once the
        application has waited for a launch, a death there is its own."""
        end_without_core()
        first = Path(tempfile.mkdtemp(dir=self.place))

        def serve(folder, word):
            report = folder / "report"
            report.unlink(missing_ok=True)
            done = self.start(folder, KILN, "serve", "--overlay", "overlay",
                              "--report", report, "--", words=(word,))
            (line,) = lines_of(report)
            return done.returncode, line["rung"], line["reason"]

        self.assertEqual(serve(first, "store")[:2], (0, ""))
        must("overlay", "build", first / "overlay")
        for waits, is_proven in ((None, False), ("other", False), ("poll", False), ("store", True),
                                 ("event", True), ("read", True)):
            with self.subTest(waits):
                folder = Path(tempfile.mkdtemp(dir=self.place))
                shutil.copytree(first / "overlay", folder / "overlay")
                if waits:
                    self.assertEqual(serve(folder, waits), (0, "exact", ""))
                for _ in range(2):
                    self.assertEqual(serve(folder, "fault"), (-signal.SIGSEGV, "exact", ""))
                code, rung, reason = serve(folder, "store")
                self.assertEqual((code, rung), (0, "exact" if is_proven else "source"))
                self.assertEqual("launched this for the first time" in reason, not is_proven)

    def test_the_application_s_children_are_its_own(self):
        """Also if it takes those of others, while kiln serve builds what it notes."""
        folder = Path(tempfile.mkdtemp(dir=self.place))
        words = ("children", "build", "children", "wait", "build", "children")
        alone = self.start(folder, words=words)
        self.assertEqual(alone.stdout.count("children: none"), 3)
        for _ in range(2):
            done = self.start(folder, KILN, "serve", "--overlay", "overlay", "--",
                              words=words, KILN_BACKGROUND="1")
            self.assertEqual((done.returncode, done.stdout), (0, alone.stdout), done.stderr)
        must("overlay", "build", folder / "overlay")  # waits for the other

    def test_two_starts_of_a_container(self):
        """kiln serve is its first process, in a folder with a blank, and what it starts ends with
        it: the first start waits for the build of what it noted, and the second is served."""
        apart = ("unshare", "--user", "--map-root-user", "--pid", "--fork")
        if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no processes of another namespace")
        folder = Path(tempfile.mkdtemp(prefix="with a blank", dir=self.place))
        report = folder / "report"
        for _ in range(2):
            report.unlink(missing_ok=True)
            for own in folder.glob("own*.txt"):
                own.unlink()
            done = self.start(folder, *apart, KILN, "serve", "--overlay", "overlay",
                              "--report", report, "--", KILN_BACKGROUND="",
                              words=("close", "build", "close", "open", "build"))
            self.assertEqual((done.returncode, done.stdout), (0, "result 1\nresult 2\n"), done.stderr)
            self.assertEqual([path.read_bytes() for path in folder.glob("own*.txt")], [OWN])
        self.assertEqual([line["outcome"] for line in lines_of(report)], ["served"] * 2)

    def test_builds_that_were_cut_off_are_told_and_waited_for(self):
        """A service manager ends the build with the service, for example."""
        folder = Path(tempfile.mkdtemp(dir=self.place))
        begun = folder / "overlay" / "noted" / "jobs.begun"

        def serve(**variables):
            return self.start(folder, KILN, "serve", "--overlay", "overlay", "--report", "report",
                              "--", words=("build",), **variables)

        self.assertEqual(serve().stderr, "")
        for number in range(1, 3):
            with subprocess.Popen([KILN, "overlay", "build", "--background", folder / "overlay"],
                                  env=environment(), start_new_session=True) as build:
                while not begun.is_file() or begun.stat().st_size < number:
                    self.assertIsNone(build.poll())
                    time.sleep(0.001)
                os.killpg(build.pid, signal.SIGKILL)
        done = serve(KILN_BACKGROUND="")
        self.assertEqual(done.stderr, "kiln: the last 2 builds of overlay ended before they had built a "
                         "program: run 'kiln overlay build overlay' once, or give KILN_BACKGROUND more "
                         "than 30 seconds\n")
        self.assertFalse(begun.exists())
        (folder / "report").unlink()
        self.assertEqual(serve(KILN_BACKGROUND="").stderr, "")
        self.assertEqual([line["outcome"] for line in lines_of(folder / "report")], ["served"])


if __name__ == "__main__":
    with PLACE:
        skips.run_cases(sys.argv[4:])

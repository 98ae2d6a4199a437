#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the overlay keeps of an application's programs, and the files that these include: edited while
the application runs, damaged, exchanged, written by others, too many.

    kept_test.py KILN LAYER APPLICATION [TEST...]

APPLICATION is steps.c of this folder. OCL_ICD_VENDORS chooses the driver. The cache folder of PoCL's
is another one at every start, and has at most what PoCL compiled for the application alone.

Exit codes: 0 passed, 1 failed, 77 there is no device.
"""

import json
import os
import random
import shutil
import sys
import tempfile
import time
import unittest
from pathlib import Path

from layer_test import (APPLICATION, FOLDER, KILN, LAYER, PLACE, end_without_core, finish, is_kept,
                        lines_of, must, programs_in, run, run_seeded, seeded, start)

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

MOST = 4096  # kMaxOverlayFiles
BUILD = ("build:-I .", "launch:1")
ALONE = {}  # runs without the layer, by their steps


def header(value):
    """The step that writes the header."""
    return f"sh:echo '#define VALUE {value}' > steps.h"


# One of which the driver makes a much larger binary: of two the layer keeps the larger. VALUE is 2.
LARGE = ("sh:{ echo '#define VALUE table[get_global_size(0) - 7]'; echo 'constant int table[] = {';"
         " seq -s, 99999; echo '};'; } > steps.h")


class Steps(unittest.TestCase):
    """Starts of the application, alone and with an overlay."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        end_without_core()
        if run(APPLICATION).code == 77:
            print("SKIP: there is no OpenCL device")
            sys.exit(77)

    def setUp(self):
        self.place = Path(tempfile.mkdtemp(prefix="test", dir=FOLDER))
        self.overlay = self.place / "overlay"
        self.before = ()

    def serve(self, *steps, cold=False):
        """A start with the overlay, which must print what one without prints: the report's lines."""
        report = self.place / "report"
        report.unlink(missing_ok=True)
        begin = run if cold else run_seeded
        if steps not in ALONE:
            ALONE[steps] = begin(APPLICATION, *steps)
        alone = ALONE[steps]
        self.assertEqual(alone.code, 0, alone.output)
        served = begin(*self.before, KILN, "serve", "--overlay", self.overlay, "--report", report,
                       "--", APPLICATION, *steps)
        self.assertEqual((served.code, served.output), (0, alone.output), served.error)
        built = run_seeded(*self.before, KILN, "overlay", "build", self.overlay)
        self.assertEqual(built.code, 0, built.error)
        return lines_of(report)

    def outcomes(self, *steps, cold=False):
        """The same, as the outcome of each program, in the order of the calls."""
        return [line["outcome"] for line in self.serve(*steps, cold=cold)]

    def kept(self):
        """The files with a program, by their names."""
        return programs_in(self.overlay)

    def binary(self, path):
        """The binary of a kept program."""
        out = Path(tempfile.mkdtemp(dir=self.place))
        must("pack", "inspect", path, "--extract", out)
        (binary,) = out.glob("*/*.bin")
        return binary.read_bytes()


class Edited(Steps):
    """A header changes between two calls of one start."""

    def test_a_header_that_changes_before_another_launch_is_not_kept_under_the_old_name(self):
        """PoCL's code of the second launch is had by building once more."""
        self.serve(header(1), *BUILD, LARGE, "launch:2")
        self.assertEqual(self.outcomes(header(1), *BUILD, "launch:2"), ["served"])
        self.assertEqual(self.outcomes(LARGE, *BUILD, "launch:2"), ["passed"])

    def test_so_it_is_when_the_program_was_served(self):
        """Its source is the application's all the same."""
        self.serve(header(1), *BUILD)
        self.serve(header(1), *BUILD, LARGE, "launch:2")
        self.serve(header(1), *BUILD, "sh:rm steps.h", "launch:4")
        self.assertEqual(self.outcomes(header(1), *BUILD, "launch:2", "launch:4"), ["served"])

    def test_with_the_header_as_it_was_the_code_of_later_launches_is_kept(self):
        """The binary of the next start has it."""
        self.serve(header(1), *BUILD)
        (path,) = self.kept()
        first = self.binary(path)
        if b"/k/1-1-1-" not in first:
            return  # the driver's binaries have all code at once
        self.assertNotIn(b"/k/2-1-1-", first)
        self.serve(header(1), *BUILD, "launch:2")
        self.assertIn(b"/k/2-1-1-", self.binary(path))

    def test_a_deferred_compilation_is_of_the_header_that_it_was_asked_for(self):
        """In the process that edits it, and in the next one, to which the link is kept."""
        self.serve(header(100), "compile:-I .", "link", "launch:1")
        edited = (header(100), "compile:-I .", header(200), "turned", "launch:1")
        again = (header(100), "compile:-I .", "turned", "launch:1")
        self.assertEqual(self.outcomes(*edited), ["passed"])
        self.assertEqual(self.outcomes(*edited), ["served"])
        self.assertEqual(self.outcomes(*again), ["served"])
        self.assertEqual(self.outcomes(header(200), *again[1:]), ["passed"])

    def test_a_deferred_compilation_needs_no_header(self):
        """It was read when the application asked."""
        self.serve(header(100), "compile:-I .", "link", "launch:1")
        self.serve(header(100), "compile:-I .", "sh:rm steps.h", "turned", "launch:1")


class Linked(Steps):
    """One program that is built, or compiled and linked, with options that flush denormals or not."""

    WAYS = ("build:-cl-denorms-are-zero", "build:", "alone:-cl-denorms-are-zero|", "alone:|",
            "alone:-DX|", "build:-DX")

    def test_options_of_the_compilation_and_of_the_link_are_told_apart(self):
        """Whatever was kept before, each way prints what it prints without the layer. PoCL 3.1
        refuses the linker's options."""
        source = self.place / "source.cl"
        source.write_text("kernel void k(global int *out) {\n"
                          "  volatile float a = 1e-38f;\n"
                          "  out[get_global_id(0)] = as_int(a * 0.125f);\n}\n", encoding="utf-8")
        steps = {way: (f"source:{source}", way, "launch:1") for way in self.WAYS}
        for ways in (self.WAYS, self.WAYS[::-1]):
            self.overlay = Path(tempfile.mkdtemp(dir=self.place))
            for way in (*ways, *ways):
                self.serve(*steps[way])
            self.assertEqual([self.outcomes(*steps[way]) for way in ways], [["served"]] * len(ways))
            self.assertEqual(len(self.kept()), 4)  # "-DX" has one name, and no options have one
        outputs = {ALONE[steps[way]].output for way in ways}
        self.assertEqual(len(outputs), 2, "the options have no effect")


class Recorded(Steps):
    """A link of programs of which one includes a file."""

    def test_a_link_is_proven_by_the_files_of_its_parts_and_served_without_compiling_them(self):
        """Without the files kiln compile refuses it."""
        steps = (header(7), "compile:-I .", "link", "launch:1")
        spool, base, built = (self.place / name for name in ("spool", "base.kiln", "built.kiln"))
        alone = run(APPLICATION, *steps)
        recorded = run(KILN, "record", "-o", spool, "--", APPLICATION, *steps)
        self.assertEqual((recorded.code, recorded.output), (0, alone.output), recorded.error)
        must("compile", spool, "-o", base)
        must("build", base, "-o", built)
        cache = self.place / "cache"
        served = run(KILN, "serve", "--pack", built, "--", APPLICATION, *steps,
                     POCL_CACHE_DIR=str(cache))
        self.assertEqual((served.code, served.output), (0, alone.output), served.error)
        # PoCL writes such a file for each program that it compiles, links or loads.
        self.assertLessEqual(len(list(cache.glob("*/*/program.bc"))), 1)
        (files,) = spool.glob("*.files")
        files.unlink()
        refused = run(KILN, "compile", spool, "-o", self.place / "none.kiln")
        self.assertEqual(refused.code, 1)
        self.assertIn("it includes files that the spool does not have", refused.error)


class Files(Steps):
    """Files that are not what the layer wrote."""

    def setUp(self):
        super().setUp()
        self.assertEqual(self.outcomes(header(1), *BUILD), ["passed"])
        (self.file,) = self.kept()
        self.good = self.file.read_bytes()

    def heals(self):
        """The program is built as without the overlay, and kept again."""
        (line,) = self.serve(header(1), *BUILD)
        self.assertTrue(is_kept(line), line)
        self.assertEqual(self.outcomes(header(1), *BUILD), ["served"])
        info = self.file.lstat()
        self.assertEqual((oct(info.st_mode), info.st_uid, info.st_nlink),
                         (oct(0o100600), os.getuid(), 1))

    def test_kept_files_are_the_users_alone(self):
        """As entries are."""
        self.assertEqual(oct(self.file.stat().st_mode), oct(0o100600))

    def test_a_file_that_others_may_have_written_is_not_served(self):
        """What lies in an overlay is given to the driver."""
        self.file.chmod(0o666)
        self.heals()
        if os.getuid() == 0:
            os.chown(self.file, 65534, 65534)
            self.heals()

    def test_a_file_with_another_name_is_not_served(self):
        """Whoever has the other name may write to it."""
        elsewhere = self.place / "elsewhere"
        os.link(self.file, elsewhere)
        self.heals()
        self.assertEqual(elsewhere.read_bytes(), self.good)
        self.file.unlink()
        self.file.symlink_to(elsewhere)
        self.heals()
        self.assertEqual(elsewhere.read_bytes(), self.good)

    def test_a_file_of_another_program_is_not_served(self):
        """By restoring or copying what it takes for a backup, somebody may put it there."""
        self.serve(header(2), *BUILD)
        (other,) = [path for path in self.kept() if path != self.file]
        shutil.copy(other, self.file)
        self.heals()
        self.serve(header(1), "build:-I . -DX=1", "launch:1")
        (other,) = [path for path in self.kept() if path not in (self.file, other)]
        shutil.copy(other, self.file)
        self.heals()

    def test_a_file_of_another_driver_is_not_served(self):
        """One that says the same of itself as this one; both stay, for a way back."""
        if shutil.which("setarch") is None:
            self.skipTest("nothing makes the system another one")
        self.before = ("setarch", "--uname-2.6")  # the system's release counts
        (line,) = self.serve(header(1), *BUILD)
        self.assertTrue(line["reason"].startswith("no pack has it; the overlay has it from before the "
                                                  "driver or system changed; "), line)
        first = self.file
        (self.file,) = [path for path in self.kept() if path != first]
        self.assertEqual(self.file.name[:-21], first.name[:-21])
        self.file.write_bytes(self.good)
        self.heals()
        self.before = ()
        self.assertEqual(self.outcomes(header(1), *BUILD), ["served"])

    def test_a_file_that_was_exchanged_meanwhile_gets_no_launches(self):
        """The launches of one program are not written to another's file."""
        self.serve(header(2), *BUILD)
        (other,) = [path for path in self.kept() if path != self.file]
        content = other.read_bytes()
        start = (header(1), *BUILD, "launch:2")
        run(APPLICATION, *start)
        served = run(KILN, "serve", "--overlay", self.overlay, "--", APPLICATION, *start)
        self.assertEqual(served.code, 0, served.error)
        shutil.copy(other, self.file)
        must("overlay", "build", self.overlay)
        self.assertEqual(self.file.read_bytes(), content)
        self.heals()

    def test_damaged_files_are_replaced(self):
        """Cut, emptied, overwritten."""
        for name, content in (("cut", self.good[:100]), ("short", self.good[:-1]), ("empty", b""),
                              ("garbage", b"\x5a" * len(self.good)), ("text", b"#!/bin/sh\n"),
                              ("none of it", self.good[:64] + bytes(len(self.good) - 64))):
            with self.subTest(name):
                self.file.write_bytes(content)
                self.heals()

    def test_no_flipped_byte_is_served(self):
        """Wherever it is; a byte that nothing is made of does no harm."""
        step = max(1, len(self.good) // 8)
        for place in range(0, len(self.good), step):
            with self.subTest(place):
                flipped = bytearray(self.good)
                flipped[place] ^= 0x10
                self.file.write_bytes(flipped)
                (line,) = self.serve(header(1), *BUILD, cold=True)
                self.assertTrue(line["reason"] == "" or is_kept(line), line)
                self.assertEqual(self.outcomes(header(1), *BUILD), ["served"])

    def test_damaged_links_are_linked_and_kept_again(self):
        """No compiler can make them of what the file has for their source."""
        steps = (header(1), "compile:-I .", "link", "launch:1")
        self.serve(*steps)
        (link,) = [path for path in self.kept() if path != self.file]
        good = link.read_bytes()
        for place in range(0, len(good) - 64, max(1, len(good) // 3)):
            with self.subTest(place):
                link.write_bytes(good[:place] + b"\x5a" * 64 + good[place + 64:])
                self.serve(*steps)
                self.assertEqual(self.outcomes(*steps), ["served"])


class Noted(Steps):
    """What the layer notes, and what another process makes of it."""

    START = (header(1), *BUILD)

    def setUp(self):
        super().setUp()
        self.assertTrue(is_kept(self.start()))
        (self.noted,) = (self.overlay / "noted").iterdir()

    def start(self, **variables):
        """A start alone; the report's line of its program."""
        report = self.place / "report"
        report.unlink(missing_ok=True)
        done = run_seeded(KILN, "serve", "--overlay", self.overlay, "--report", report, "--",
                          APPLICATION, *self.START, **variables)
        self.assertEqual(done.code, 0, done.error)
        (line,) = lines_of(report)
        return line

    def names(self):
        """What is noted, without the programs' names."""
        return sorted(path.suffix for path in self.noted.glob("cl-*"))

    def build(self, **variables):
        """A build by hand, as JSON."""
        done = run_seeded(KILN, "overlay", "build", self.overlay, "--json", **variables)
        return done.code, json.loads(done.output) if done.output else done.error

    def test_the_application_asks_for_no_binary(self):
        """Until the build there is none, and then nothing is noted."""
        self.assertEqual(self.names(), [".kiln", ".launches"])
        self.assertEqual(self.kept(), [])
        self.assertEqual(self.start()["outcome"], "passed")
        code, built = self.build()
        self.assertEqual((code, built["built"], built["failures"]), (0, 1, []))
        self.assertEqual(self.names(), [])
        self.assertEqual(self.start()["outcome"], "served")
        self.assertEqual(self.names(), [])
        self.assertEqual(self.build()[1]["built"], 0)

    def test_notes_are_the_users_alone(self):
        """What lies there is given to the driver."""
        for path in (self.noted.parent, self.noted, *self.noted.iterdir()):
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_kiln_serve_builds_when_the_application_has_ended(self):
        """Of two that start at once, too; nobody waits for their output any longer."""
        running = [start(KILN, "serve", "--overlay", self.overlay, "--", APPLICATION, *self.START,
                         KILN_BACKGROUND="1") for _ in range(2)]
        for process in running:
            self.assertEqual(finish(process).code, 0)
        for _ in range(1200):  # it gives way to every other test
            if self.kept() and not self.names():
                break
            time.sleep(0.5)
        self.assertEqual(self.names(), [])
        self.assertEqual(self.start()["outcome"], "served")
        must("overlay", "build", self.overlay)  # waits for the processes' end

    def test_an_application_without_an_environment(self):
        """clearenv() sets glibc's `environ` to NULL; PoCL launches nothing without PATH."""
        done = run(KILN, "serve", "--overlay", self.overlay, "--", APPLICATION, "clearenv",
                   header(1), BUILD[0])
        self.assertEqual((done.code, done.output), (0, ""), done.error)

    def test_a_killed_build_goes_on(self):
        """At whatever moment: no note is lost, and none is built in vain."""
        for delay in (0.02, 0.1, 0.3, 0.6, 1.0):
            process = start(KILN, "overlay", "build", self.overlay)
            time.sleep(delay)
            process.kill()
            finish(process)
        code, built = self.build()
        self.assertEqual((code, built["failures"]), (0, []))
        self.assertEqual(self.start()["outcome"], "served")
        (self.overlay / "noted/jobs.sqlite").touch()  # as of a build killed after its last program
        self.assertEqual(self.build()[0], 0)
        self.assertEqual([path.name for path in (self.overlay / "noted").iterdir()],
                         [self.noted.name])

    def test_what_cannot_be_built_is_not_tried_at_each_start(self):
        """The report says why; a day later it is tried again, and after `overlay clear`."""
        code, built = self.build(PATH="/nonexistent")  # where PoCL finds no linker
        self.assertEqual((code, built["built"], len(built["failures"])), (1, 0, 1))
        self.assertEqual(self.names(), [".refused"])
        reason = self.start()["reason"]
        self.assertIn("the overlay cannot have it: ", reason)
        self.assertEqual(self.names(), [".refused"])
        (refused,) = self.noted.glob("*.refused")
        os.utime(refused, (time.time() - 100000,) * 2)
        self.assertTrue(is_kept(self.start()))
        self.assertEqual(self.build()[1]["built"], 1)
        self.assertEqual(self.start()["outcome"], "served")
        must("overlay", "clear", self.overlay)
        self.assertEqual(list(self.overlay.iterdir()), [])

    def test_variables_that_change_code_are_left_out_of_a_build(self):
        """The application does not have them."""
        code, built = self.build(POCL_EXTRA_BUILD_FLAGS="-Dkernel=+")
        self.assertEqual((code, built["built"], built["failures"]), (0, 1, []))
        self.assertEqual(self.start()["outcome"], "served")

    def test_damaged_notes_are_dropped(self):
        """The next start writes them again."""
        for path in self.noted.iterdir():
            path.write_bytes(path.read_bytes()[:-20])
        (self.noted / ("cl-" + 32 * "0" + ".kiln")).write_bytes(b"garbage")
        code, built = self.build()
        self.assertEqual((code, built["failures"]), (0, []))
        self.assertEqual(self.names(), [])
        self.start()
        self.build()
        self.assertEqual(self.start()["outcome"], "served")

    def test_notes_of_other_drivers_are_told(self):
        """Those of an earlier driver of the device go."""
        key = self.noted.name[:17]
        shutil.copytree(self.noted, self.noted.parent / (key + 16 * "0"))
        shutil.copytree(self.noted, self.noted.parent / ("0" * 16 + "-" + 16 * "0"))
        _, built = self.build()
        self.assertEqual((built["built"], built["dropped"], built["other_drivers"]), (1, 1, 1))
        told = must("overlay", "build", self.overlay).output
        label = json.loads(must("devices", "--json").output)["devices"][0]["label"].partition(": ")[2]
        self.assertIn(f"; 1 noted for drivers that are not here: {label}", told)
        self.assertEqual(len(list((self.overlay / "noted").iterdir())), 2)

    def test_notes_that_cannot_be_written_cost_the_application_nothing(self):
        """The layer says so once."""
        shutil.rmtree(self.noted.parent)
        self.noted.parent.write_text("no folder")
        alone = run_seeded(APPLICATION, *self.START)
        done = run_seeded(KILN, "serve", "--overlay", self.overlay, "--", APPLICATION, *self.START)
        self.assertEqual((done.code, done.output), (0, alone.output), done.error)
        said = [line for line in done.error.splitlines() if line.startswith("kiln layer: not noted: ")]
        self.assertEqual(len(said), 1, done.error)


class Killed(Steps):
    """Starts and builds that are killed, of two applications with one overlay. The variable KILLS
    is their number."""

    ROUNDS = int(os.environ.get("KILLS", "8"))

    def start_one(self, number, **variables):
        """A start of one of the applications."""
        return start(KILN, "serve", "--overlay", self.overlay, "--report", self.place / "report",
                     "--", APPLICATION, *self.steps(number), **seeded(), **variables)

    @staticmethod
    def steps(number):
        """Those of one of the applications."""
        return (header(number), *BUILD, f"launch:{2 * number}")

    def test_kills_lose_nothing(self):
        """Whatever was killed, every start prints the same, and in the end both are served."""
        dice = random.Random(1)
        right = [run_seeded(APPLICATION, *self.steps(number)).output for number in (1, 2)]
        for number in range(self.ROUNDS):
            background = {"KILN_BACKGROUND": str(number % 2)}
            running = [self.start_one(1, **background), self.start_one(2, **background),
                       start(KILN, "overlay", "build", self.overlay)]
            for process in dice.sample(running, 2):
                time.sleep(dice.random() / 2)
                process.kill()
            done = [finish(process) for process in running]
            for run_, output in zip(done, right):
                self.assertIn((run_.code, run_.output), ((0, output), (-9, run_.output)), run_.error)
            if dice.random() < 0.2:
                for path in self.kept():
                    path.unlink()
        must("overlay", "build", self.overlay)
        for number in (1, 2):
            (self.place / "report").unlink(missing_ok=True)
            for _ in range(2):
                done = finish(self.start_one(number))
                self.assertEqual((done.code, done.output), (0, right[number - 1]), done.error)
                must("overlay", "build", self.overlay)
            self.assertEqual(lines_of(self.place / "report")[-1]["outcome"], "served")


class Room(Steps):
    """More programs than may be kept."""

    def fill(self):
        """As many files as there may be, the first of which was used last."""
        self.serve(header(1), *BUILD)
        (mine,) = self.kept()
        now = time.time()
        os.utime(mine, (now - 200000, now - 200000))
        others = [self.overlay / f"cl-{number:032x}-{0:016x}-{0:016x}.kiln" for number in range(MOST - 1)]
        for number, path in enumerate(others):
            path.touch()
            os.utime(path, (now - 100000 - number, now - 100000 - number))
        return mine, others

    def test_what_was_not_used_for_longest_goes(self):
        """The new one is kept, and no more than one goes for it."""
        mine, others = self.fill()
        self.assertEqual(self.outcomes(header(1), *BUILD), ["served"])  # a use
        (line,) = self.serve(header(2), *BUILD)
        self.assertTrue(is_kept(line), line)
        self.assertTrue(mine.exists())
        self.assertEqual([path for path in others if not path.exists()], others[-1:])
        self.assertEqual(len(self.kept()), MOST)
        self.assertEqual(self.outcomes(header(2), *BUILD), ["served"])

    def test_files_of_others_neither_count_nor_go(self):
        """What lies beside the programs is not the layer's."""
        self.serve(header(1), *BUILD)
        old = [self.overlay / f"note {number}" for number in range(MOST)]
        for path in old:
            path.touch()
            os.utime(path, (0, 0))
        (line,) = self.serve(header(2), *BUILD)
        self.assertTrue(is_kept(line), line)
        self.assertEqual(len(self.kept()), 2)
        self.assertTrue(all(path.exists() for path in old))


class Arguments(Steps):
    """What a driver tells of arguments depends on the options of the build."""

    def test_arguments_are_told_as_without_the_overlay(self):
        """PoCL tells with -cl-kernel-arg-info, or without any options; its binaries always do."""
        for options in ("", ":", ":-DX=1", ":-cl-kernel-arg-info"):
            steps = ("sh:echo '#define VALUE 1' > steps.h", f"build{options}", "arguments")
            with self.subTest(options):
                self.assertEqual(self.outcomes(*steps, cold=True), ["passed"])
                self.assertEqual(self.outcomes(*steps, cold=True), ["served"])
                shutil.rmtree(self.overlay)


if __name__ == "__main__":
    try:
        skips.run_cases(sys.argv[4:])
    finally:
        PLACE.cleanup()

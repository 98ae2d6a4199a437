#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An application cannot tell on rusticl either whether the layer is there.

    rusticl_test.py KILN LAYER APPLICATION [TEST...]

APPLICATION is application.c of this folder. Two of its sections are left out, in which rusticl 22.3
ends the process (`build` asks for a binary before there is one, `garbage` loads what is none), and
one, `rebuild`, in which its answers depend on when its threads release a kernel.

Exit codes: 0 passed, 1 failed, 77 there is no device.
"""

import difflib
import json
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

from layer_test import APPLICATION, FOLDER, KILN, PLACE, bare, complaints, end_without_core, lines_of, run

SECTIONS = ("platform", "kernels", "run", "callback", "wrong", "twice", "compile_link",
            "link_alone", "link_several", "include", "binary", "threads", "atexit")
# rusticl counts references until its threads are done, and refuses to build again until then.
UNSTEADY = re.compile(r"[^:]*: REFERENCE_COUNT |binary.clBuildProgram: ")
# rusticl links and launches programs that are executables, with the kernels of each build; served
# ones are as OpenCL wants them. What an overlay links has the options that were asked for.
SERVED = re.compile(r"compile_link\.(compiled after a build|"
                    r"built after a compilation|linked with an unknown option): ")
NAMES = re.compile(r"(.* KERNEL_NAMES .*, )(.*)")
LINKED = re.compile(r"compile_link\.link |link_\w+\.|binary\.")


def compared(text, aside):
    """The lines that are the same with the layer.

    rusticl names kernels again after a rebuild, and without the layer, too, those of a linked
    program or of a binary in any order.
    """
    lines = [line for line in text.splitlines()
             if not UNSTEADY.match(line) and not (aside and aside.match(line))]
    return [NAMES.sub(lambda found: found[1] + ";".join(
        (sorted if LINKED.match(found[1]) else dict.fromkeys)(found[2].split(";"))), line)
            for line in lines]


def entries_of(folder, name):
    """The keys in the only database of that name."""
    (path,) = (folder / "mesa_shader_cache_sf").glob(f"*/llvmpipe/{name}")
    keys, text, at = set(), path.read_bytes(), 16
    while at < len(text):
        keys.add(text[at:at + 40])
        at += 56 + int.from_bytes(text[at + 40:at + 44], "little")
    return keys


class Rusticl(unittest.TestCase):
    """All sections, recorded once."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.alone = bare(*SECTIONS)

    def setUp(self):
        self.place = Path(tempfile.mkdtemp(prefix="test", dir=FOLDER))

    def kiln(self, *words):
        """A command of kiln's that has to succeed."""
        done = run(KILN, *words)
        self.assertEqual(done.code, 0, done.error)
        return done

    def under(self, *options, aside=None):
        """The application under that command printed the same, and the layer said nothing."""
        done = self.kiln(*options, "--", APPLICATION, *SECTIONS)
        self.assertEqual(complaints(done), [])
        alone, got = compared(self.alone, aside), compared(done.output, aside)
        self.assertGreater(len(alone), 600)
        if got != alone:
            self.fail("\n".join(difflib.unified_diff(alone, got, "alone", "with the layer", "", "",
                                                     n=0, lineterm="")))

    def record(self, name):
        """A base pack of the application's programs."""
        spool, base = self.place / f"{name}.spool", self.place / f"{name}.kiln"
        self.under("record", "-o", spool)
        self.kiln("compile", spool, "-o", base)
        return base

    def programs(self, pack):
        """The hash of each program's only variant, by its name."""
        listed = json.loads(self.kiln("pack", "inspect", pack, "--json").output)["programs"]
        return {program["name"]: variant["hash"] for program in listed
                for (variant,) in [program["variants"]]}

    def test_what_was_recorded_is_served(self):
        """Two recordings make the same variants; each program comes from its binary, but for those
        of objects that the driver built before."""
        base, built, report = self.record("first"), self.place / "app.kiln", self.place / "report"
        recorded = self.programs(base)
        self.assertEqual(recorded, self.programs(self.record("second")))
        self.kiln("build", base, "-o", built)
        self.under("serve", "--pack", built, "--report", report, aside=SERVED)
        lines = [line for line in lines_of(report) if line["program"] in recorded]
        self.assertGreater(len({line["program"] for line in lines if line["rung"] == "exact"}), 10)
        self.assertLessEqual({line["reason"] for line in lines}, {
            "", "the driver built it before", "its arguments are for the driver to judge"})
        self.check_another_driver(built)

    def check_another_driver(self, built):
        """What misses says why, and which target of the pack is nearest."""
        report = self.place / "missed"
        done = run(KILN, "serve", "--pack", built, "--report", report, "--", APPLICATION, "run",
                   OCL_ICD_VENDORS=str(Path(os.environ["OCL_ICD_VENDORS"]).parent / "icd"))
        self.assertEqual(done.code, 0, done.error)
        lines = lines_of(report)
        self.assertTrue(lines)
        for line in lines:
            self.assertEqual((line["outcome"], line["reason"]), (
                "compiled", "exact: no target of the pack has this device's binary key"), line)
            self.assertIn("llvmpipe", line["nearest"]["target"])
            self.assertIn({"field": "profile", "pack": "rusticl", "device": "pocl"},
                          line["nearest"]["differs"])

    def test_mesa_compiles_nothing_that_a_pack_has(self):
        """Its own database gets none of two packs' entries, all of which it reads from Kiln's."""
        packs, command = self.place / "packs", (APPLICATION, "run", "twice")
        packs.mkdir()
        for section in command[1:]:
            spool, base = self.place / section, self.place / f"{section}.kiln"
            self.kiln("record", "-o", spool, "--", APPLICATION, section)
            self.kiln("compile", spool, "-o", base)
            self.kiln("build", base, "-o", packs / f"{section}.kiln")
        serve = (KILN, "serve", "--pack", packs)
        own, packed = [], []
        for words in ((), ("env", "-u", "MESA_DISK_CACHE_READ_ONLY_FOZ_DBS")):
            folder = self.place / f"caches-{len(words)}"
            done = run(*serve, "--", *words, *command, MESA_SHADER_CACHE_DIR=str(folder))
            self.assertEqual((done.code, complaints(done)), (0, []))
            own.append(entries_of(folder, "foz_cache.foz"))
            packed.append(entries_of(folder, "kiln.foz"))
        self.assertEqual(packed[0], packed[1])
        self.assertEqual(own[0] & packed[0], set())
        self.assertGreater(len(own[1] & packed[0]), 2)  # the same, where Mesa does not read Kiln's

        printed = run(*serve, "--print-env", "sh", MESA_DISK_CACHE_READ_ONLY_FOZ_DBS="mine",
                      MESA_SHADER_CACHE_DIR=str(self.place / "printed"))
        self.assertIn("export MESA_DISK_CACHE_SINGLE_FILE='1'\n"
                      "export MESA_DISK_CACHE_READ_ONLY_FOZ_DBS='mine,kiln'\n", printed.output)
        self.assertIn("kiln: run 'kiln provision PACK' for each pack, too", printed.error)
        self.assertFalse((self.place / "printed").exists())
        (self.place / "a file").touch()
        for variables, complaint in (
                ({"MESA_SHADER_CACHE_DIR": str(self.place / "a file")}, "Not a directory"),
                ({"MESA_SHADER_CACHE_DISABLE": "1"}, "does not read rusticl's final code")):
            done = run(*serve, "--", *command, **variables)
            self.assertEqual(done.code, 0)
            self.assertEqual(len(complaints(done)), 1, done.error)
            self.assertIn(complaint + "; rusticl compiles at first launches", done.error)

    def test_a_limit_for_files_does_not_end_the_application(self):
        """It writes nothing itself, and the overlay is full."""
        end_without_core()
        limited = ("sh", "-c", 'ulimit -f 1; exec "$@"', "sh")
        variables = {"MESA_SHADER_CACHE_DISABLE": "true"}
        alone = run(*limited, APPLICATION, "run", **variables)
        done = run(*limited, KILN, "serve", "--overlay", self.place / "overlay", "--", APPLICATION,
                   "run", **variables)
        self.assertEqual((alone.code, done.code, done.output), (0, 0, alone.output), done.error)

    def test_an_overlay_serves_the_second_start(self):
        """What was built of the first one's notes."""
        for name in ("first", "second"):
            self.under("serve", "--overlay", self.place / "overlay", "--report", self.place / name,
                       aside=SERVED)
            run(KILN, "overlay", "build", self.place / "overlay")  # not all can be
        outcomes = {line["outcome"] for line in lines_of(self.place / "second")}
        self.assertEqual(outcomes, {"served", "passed"})

    def test_mesa_compiles_nothing_that_an_overlay_has(self):
        """What the second start needs, Mesa reads from Kiln's database."""
        own = []
        for name in ("first", "second"):
            folder = self.place / f"caches-{name}"
            done = run(KILN, "serve", "--overlay", self.place / "overlay", "--", APPLICATION, "run",
                       "twice", MESA_SHADER_CACHE_DIR=str(folder), MESA_DISK_CACHE_SINGLE_FILE="1")
            self.assertEqual((done.code, complaints(done)), (0, []))
            own.append(entries_of(folder, "foz_cache.foz"))
            self.kiln("overlay", "build", self.place / "overlay")
        provisioned = entries_of(folder, "kiln.foz")
        self.assertGreater(len(own[0] & provisioned), 2)
        self.assertEqual(own[1] & own[0], set())


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
    finally:
        PLACE.cleanup()

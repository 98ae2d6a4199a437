#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A build finds what a driver builds wrongly, and another way that is right.

    workarounds_test.py KILN TEST-DRIVER

TEST-DRIVER is the scripted driver, with PoCL behind it. It computes nothing, dies, hangs, takes all
memory or refuses a program, by its version and by the program's options. Mesa 22.3, if it is here, has two
faults by itself: llvmpipe ends each loop after 65,535 rounds, and rusticl dies over a program's variable. Exit codes: 0 passed, 1 failed, 77 a driver or a tool
is not installed.
"""

import ctypes
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import scripted

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

KILN, DRIVER = sys.argv[1:3]
SOURCE = """kernel void fast(global const uint *in, global uint *out, uint width) {
  uint x = get_global_id(0);
  if (x < width) out[x] = in[x] * 3u + 1u;
}

kernel void plain(global const uint *in, global uint *out, uint width) {
  uint x = get_global_id(0);
  if (x < width) out[x] = in[x] + in[x] + in[x] + 1u;
}
"""
MANIFEST = """schema = 1
[spirv]
address_bits = [64]
[program.triple]
source = "k.cl"
reference = "variant:plain"
prefer = ["fast"]
arguments = [{ role = "input", type = "uint", extent = ["width"] },
             { role = "output", type = "uint", extent = ["width"] }, { role = "width" }]
[program.triple.variant.fast]
kernel = "fast"
options = ["-DFAST"]
range = ["width"]
%s
[program.triple.variant.plain]
kernel = "plain"
range = ["width"]
"""
DEVICE = scripted.DEVICE + 'driver_version = "%s"\n'
# Nothing is computed: the results are wrong.
WRONG = """[[fault]]
at = "clEnqueueNDRangeKernel"
do = "skip"
kernel = "fast"
option = "-DFAST"
without_option = "%s"
"""
SAFE = 'workarounds = ["-DSAFE"]'


class Workarounds(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="kiln-workarounds-")
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def device(self, version, faults=""):
        """The variables for a device with that driver."""
        variables = scripted.use(self.folder, DRIVER, DEVICE % version + faults)
        return {**variables, "KILN_STORE": str(self.folder / "store.sqlite")}

    def run_kiln(self, *command, variables, code=0):
        done = subprocess.run([KILN, *command], cwd=self.folder, env=variables, text=True,
                              capture_output=True, check=False)
        if done.returncode == 5 and "clang" in done.stderr:
            scripted.skip(done.stderr.strip())
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def build(self, variables, declared="", pack="out.kiln", code=0, timeout="10", options=(),
              manifest=MANIFEST, base="m.toml"):
        """What a build says of itself."""
        (self.folder / "k.cl").write_text(SOURCE)
        (self.folder / "m.toml").write_text(manifest % declared)
        done = self.run_kiln("build", base, "-o", pack, "--no-finish", "--json", "--timeout",
                             timeout, "--memory", "2G", *options, variables=variables, code=code)
        return json.loads(done.stdout)

    def notes(self, pack="out.kiln"):
        """What builds found, by variant: the driver's versions and what is left out."""
        shown = self.run_kiln("pack", "inspect", pack, "--json", variables=os.environ)
        return {note["variant"]: (note["driver_from"], note["driver_below"], note["rungs"])
                for note in json.loads(shown.stdout)["known_bad"]["notes"] if note.get("found")}

    def binaries(self, pack="out.kiln"):
        """The names of the variants with a binary."""
        shown = self.run_kiln("pack", "inspect", pack, "--json", variables=os.environ)
        return {binary["variant"] for target in json.loads(shown.stdout)["targets"]
                for binary in target["binaries"]}

    def assert_right(self, variables, pack="out.kiln", *options, variant="fast"):
        """That variant is taken, and its result is the reference's; returns what is said."""
        done = self.run_kiln("run", "triple", "--pack", pack, "--size", "64", *options,
                             variables=variables)
        self.assertTrue(done.stdout.startswith(f"triple/{variant} on"), done.stdout)
        if variant == "fast":  # the other one is the reference
            self.assertIn("equals the reference byte for byte", done.stdout)
        return done.stdout

    def one(self, summary):
        self.assertEqual(len(summary["worked_around"]), 1, summary)
        return summary["worked_around"][0]

    def test_wrong_results_by_option(self):
        device = self.device("38", WRONG % "-cl-opt-disable")
        found = self.one(self.build(device))
        self.assertEqual(found["workaround"], "-cl-opt-disable")
        self.assertIn("its results are wrong", found["fault"])
        self.assertEqual(self.notes(), {"fast": ("38", "38.1", ["il", "source"])})
        self.assert_right(device)
        self.assertIn("workaround: -cl-opt-disable; as it is: its results are wrong",
                      self.assert_right(device, "out.kiln", "--variant", "fast"))
        again = self.build(device)
        self.assertTrue(again["up_to_date"])
        self.assertEqual(again["worked_around"], [])
        (self.folder / "out.kiln").unlink()
        stored = self.build(device)
        self.assertEqual((stored["compiled"], stored["stored"]), (0, 2))
        self.assertEqual(self.one(stored)["workaround"], "-cl-opt-disable")
        self.assertEqual(self.notes(), {"fast": ("38", "38.1", ["il", "source"])})
        other = self.device("39", WRONG % "-cl-opt-disable")
        self.build(other, pack="both.kiln")
        self.run_kiln("pack", "merge", "out.kiln", "both.kiln", "-o", "both.kiln", variables=other)
        self.assertEqual(self.notes("both.kiln")["fast"][:2], ("38", "39.1"))

    def test_a_repaired_driver_withdraws_the_note_of_its_version(self):
        self.build(self.device("38", WRONG % "-cl-opt-disable"))
        repaired = {**self.device("38"), "KILN_STORE": "none"}
        (self.folder / "out.kiln").rename(self.folder / "then.kiln")
        self.run_kiln("build", "then.kiln", "-o", "now.kiln", "--no-finish", variables=repaired)
        self.assertEqual(self.notes("then.kiln").keys(), {"fast"})
        self.assertEqual(self.notes("now.kiln"), {})

    def test_the_manifests_workaround_comes_first(self):
        device = self.device("38", WRONG % "-DSAFE")
        self.assertEqual(self.one(self.build(device, SAFE))["workaround"], "-DSAFE")
        self.assert_right(device)

    def test_without_a_workaround_the_job_fails_and_devices_take_the_other_variant(self):
        device = self.device("38", WRONG % "-DNOTHING")
        summary = self.build(device, code=1)
        self.assertEqual(summary["worked_around"], [])
        self.assertIn("no workaround helps: -cl-opt-disable", summary["failures"][0]["error"])
        self.assertEqual(self.notes(), {"fast": ("38", "38.1", ["il", "source"])})
        self.assert_right(device, variant="plain")
        self.run_kiln("run", "triple", "--pack", "out.kiln", "--variant", "fast",
                      "--size", "64", variables=device, code=1)

    def test_a_note_is_about_the_text_whatever_the_variant_is_called(self):
        device = self.device("38", WRONG % "-cl-opt-disable")
        self.build(device, pack="old.kiln")
        moved = MANIFEST.replace("program.triple", "program.thrice")
        renamed = MANIFEST.replace("variant.fast]", "variant.quick]").replace('["fast"]', '["quick"]')
        (self.folder / "out.kiln").write_bytes((self.folder / "old.kiln").read_bytes())
        for manifest, name in ((moved, "fast"), (renamed, "quick"), (renamed, "quick")):
            summary = self.build(device, manifest=manifest)
            self.assertEqual((summary["compiled"], summary["reused"]), (0, 2))
            self.assertEqual(self.notes(), {name: ("38", "38.1", ["il", "source"])})
        self.assert_right(device, "out.kiln", "--without", "binary", variant="plain")
        for sides in (("old.kiln", "out.kiln"), ("out.kiln", "old.kiln")):
            self.run_kiln("pack", "merge", *sides, "-o", "both.kiln", variables=device)
            self.assertEqual(self.notes("both.kiln").keys(), {"fast", "quick"})
        # Two programs have one text: one of them is compiled, and the note is about both.
        program = MANIFEST[MANIFEST.index("[program"):].replace("%s", "")
        twice = MANIFEST + program.replace("program.triple", "program.twice")
        self.build(device, manifest=twice, pack="twice.kiln")
        shown = self.run_kiln("pack", "inspect", "twice.kiln", "--json", variables=device)
        self.assertEqual({(note["program"], note["variant"])
                          for note in json.loads(shown.stdout)["known_bad"]["notes"]},
                         {("triple", "fast"), ("twice", "fast")})

    def test_a_build_that_compares_less_takes_nothing_back(self):
        values = range(64)
        (self.folder / "in.raw").write_bytes(struct.pack("<64I", *values))
        right = struct.pack("<64I", *(3 * value + 1 for value in values))
        (self.folder / "right.raw").write_bytes(right)
        by_file = MANIFEST.replace('"variant:plain"', '"file:right.raw:64:in.raw"')
        for without_option, found in (("-DNOTHING", set()), ("-cl-opt-disable", {"triple/fast"})):
            device = {**self.device("38", WRONG % without_option), "KILN_STORE": "none"}
            pack = f"found{without_option}.kiln"
            self.build(device, manifest=by_file, pack=pack, code=0 if found else 1)
            self.run_kiln("compile", "m.toml", "-o", "base.kiln", variables=device)
            notes = self.notes(pack)
            self.assertEqual(notes.keys(), {"fast"})
            self.assertEqual(self.binaries(pack), {"triple/plain"} | found)
            (self.folder / "right.raw").unlink()  # as on another machine
            for options in ((), ("--no-check",), ("--fresh=none",)):
                with self.subTest(without_option=without_option, options=options):
                    (self.folder / "less.kiln").write_bytes((self.folder / pack).read_bytes())
                    self.build(device, base="base.kiln", pack="less.kiln", options=options)
                    self.assertEqual(self.notes("less.kiln"), notes)
                    self.assertEqual(self.binaries("less.kiln"), {"triple/plain"} | found)
            # Nor does a pack of somebody who compared less bring in what is wrong.
            self.build(device, base="base.kiln", pack="other.kiln")
            self.assertEqual(self.binaries("other.kiln"), {"triple/fast", "triple/plain"})
            for sides in ((pack, "other.kiln"), ("other.kiln", pack)):
                done = self.run_kiln("pack", "merge", *sides, "-o", "both.kiln", variables=device)
                self.assertEqual(self.binaries("both.kiln"), {"triple/plain"} | found)
                self.assertEqual(self.notes("both.kiln"), notes)
                self.assertIn("a build found the variant wrong" if not found else
                              "the one with a workaround first", done.stdout + done.stderr)
            (self.folder / "right.raw").write_bytes(right)
            if not found:  # who compares as much may say otherwise
                repaired = {**self.device("38"), "KILN_STORE": "none"}
                self.build(repaired, manifest=by_file, pack=pack)
                self.assertEqual(self.notes(pack), {})
                self.assertEqual(self.binaries(pack), {"triple/fast", "triple/plain"})

    def test_deaths_hangs_and_memory(self):
        for what in ("segv", "hang", "hoard"):
            with self.subTest(what):
                fault = (f'[[fault]]\nat = "clBuildProgram"\ndo = "{what}"\noption = "-DFAST"\n'
                         'without_option = "-DSAFE"\n')
                device = {**self.device("38", fault), "KILN_STORE": "none"}
                summary = self.build(device, SAFE, f"{what}.kiln", timeout="5")
                self.assertEqual(self.one(summary)["workaround"], "-DSAFE")
                self.assertEqual(self.notes(f"{what}.kiln").keys(), {"fast"})
                self.assert_right(device, f"{what}.kiln")

    def test_a_death_by_chance_leaves_the_variant_as_it_is(self):
        fault = ('[[fault]]\nat = "clBuildProgram"\ndo = "segv"\noption = "-DFAST"\n'
                 'once = "{folder}/died"\n')
        summary = self.build(self.device("38", fault))
        self.assertEqual(summary["worked_around"], [])
        self.assertEqual(self.notes(), {})

    def test_a_refused_program_gets_another_text_only(self):
        fault = ('[[fault]]\nat = "clBuildProgram"\ndo = "error"\ncode = -11\n'
                 'log = "line 3: no"\noption = "-DFAST"\nwithout_option = "-DSAFE"\n')
        device = self.device("38", fault)
        self.assertIn("line 3: no", self.build(device, code=1)["failures"][0]["error"])
        self.assertEqual(self.notes(), {})  # the driver says it itself
        self.assertEqual(self.one(self.build(device, SAFE))["workaround"], "-DSAFE")

    def test_a_fleet_of_ten_compilers_of_which_three_are_wrong(self):
        wrong = {"4", "5", "7"}
        devices = {str(version): WRONG % "-cl-opt-disable" if str(version) in wrong else ""
                   for version in range(1, 11)}
        packs = []
        for version, faults in devices.items():
            packs.append(f"{version}.kiln")
            summary = self.build(self.device(version, faults), pack=packs[-1])
            self.assertEqual(len(summary["worked_around"]), version in wrong)
        self.run_kiln("pack", "merge", *packs, "-o", "fleet.kiln", variables=os.environ)
        self.assertEqual(self.notes("fleet.kiln"), {"fast": ("4", "7.1", ["il", "source"])})
        for version, faults in devices.items():
            said = self.assert_right(self.device(version, faults), "fleet.kiln")
            self.assertIn(": exact,", said)
            self.assertEqual("workaround" in said, version in wrong)
        # Nobody built on 6.5 and on 11. Between wrong versions nothing compiles the fast variant.
        between = self.device("6.5", WRONG % "-cl-opt-disable")
        self.assert_right(between, "fleet.kiln", variant="plain")
        self.assert_right(self.device("11"), "fleet.kiln")

    def fault_of_mesa(self, fixture, program, variant):
        """What the build of a fixture on Debian 12's rusticl did, and what became of it: the workaround, what
        kiln bisect found, and its report."""
        scripted.need("libpocl.so.2")
        try:
            ctypes.CDLL("libRusticlOpenCL.so.1")
        except OSError as error:
            self.skipTest(str(error))
        variables = {**scripted.use(self.folder, "libRusticlOpenCL.so.1"), "KILN_STORE": "none",
                     "RUSTICL_ENABLE": "llvmpipe"}
        (self.folder / "icd/pocl.icd").write_text("libpocl.so.2\n")
        manifest = str(Path(__file__).with_name("fixtures") / fixture)
        done = self.run_kiln("build", manifest, "-o", "app.kiln", "--device", "*llvmpipe*",
                             "--json", variables=variables)
        if not json.loads(done.stdout)["worked_around"]:
            self.skipTest("this Mesa builds it rightly")
        found = self.run_kiln("bisect", program, "--pack", "app.kiln", "--variant", variant, "--device",
                              "*llvmpipe*", "--report", "report.md", "--json", variables=variables)
        return (self.one(json.loads(done.stdout)), json.loads(found.stdout),
                (self.folder / "report.md").read_text())

    def test_a_long_loop_on_mesa_becomes_a_report(self):
        built, found, report = self.fault_of_mesa("long_loop/sum.toml", "sums", "loop")
        self.assertEqual(built["workaround"], "-DBY_FOUR")
        self.assertTrue(found["confirmed"])
        self.assertEqual((found["size"], found["lines"], found["printed"]), ("1x1", 6, ""), found)
        for part in ("# rusticl ", " of Mesa/X.org, ", "* Environment: `RUSTICL_ENABLE=llvmpipe`\n",
                     "gives the expected values on Portable Computing Language", "expected: 105000\n",
                     "also differs from an independent reference",
                     "argument 0, out: buffer of 1 x uint (4 bytes), zeros before the launch\n",
                     "argument 1, width: by value, 1\n", "found: 98301\n", found["text"]):
            self.assertIn(part, report)
        self.assertNotIn("## Output", report)

    def test_a_death_of_rusticl_becomes_a_report(self):
        """It builds a program with a variable of its own, and panics when a kernel of it is created."""
        built, found, report = self.fault_of_mesa("program_variable/multiples.toml", "multiples",
                                                  "variable")
        self.assertEqual((built["workaround"], built["fault"]),
                         ("-DNO_PROGRAM_VARIABLE", "loading and launching the new binary: crashed with "
                                                   "signal 6 (Aborted)"))
        self.assertEqual((found["fault"], found["size"], found["lines"]),
                         ("crashed with signal 6 (Aborted)", "1x1", 3), found)
        self.assertIn("global uint factor", found["text"])
        self.assertIn("panicked", found["printed"])
        # With a lower -cl-std the driver refuses it, and with -DNO_PROGRAM_VARIABLE it is another text.
        self.assertTrue(found["right_with"].startswith("Portable Computing Language"), found)
        for part in (": crashed with signal 6 (Aborted)\n", "## Output", "panicked", found["text"],
                     "The program that it was reduced from is right on Portable Computing Language"):
            self.assertIn(part, report)
        self.assertNotIn("clang", report)


if __name__ == "__main__":
    scripted.need("libpocl.so.2")
    skips.run_cases(sys.argv[3:])

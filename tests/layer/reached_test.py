#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kiln record and kiln serve reach the application, or say why not; and what their report tells.

    reached_test.py KILN LAYER APPLICATION BINARY_CACHE LOADER [TEST...]

APPLICATION is application.c, BINARY_CACHE is binary_cache.c, and LOADER is without_layers.c, an ICD
loader that takes no layers. OCL_ICD_VENDORS chooses the driver.

Exit codes: 0 passed, 1 failed, 77 there is no device.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY_CACHE, LOADER = (os.path.abspath(path) for path in sys.argv[4:6])
sys.argv[4:6] = []  # the rest is layer_test's
# pylint: disable=wrong-import-position
from layer_test import (APPLICATION, FOLDER, KILN, LAYER, all_lines_of, environment, keep,  # noqa: E402
                        lines_of, recording, run as run_cold, run_seeded as run, serving)

# Of a machine where another loader comes first.
OTHER = {"LD_LIBRARY_PATH": f"{os.path.dirname(LOADER)}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
IN_FRONT = "does not take layers; "


def said(done):
    """Kiln's lines on standard error."""
    return [line for line in done.error.splitlines() if line.startswith("kiln")]


class Reached(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if run(APPLICATION, "build").code == 77:
            print("SKIP: there is no device")
            sys.exit(77)

    def setUp(self):
        self.place = Path(tempfile.mkdtemp(prefix="reached", dir=FOLDER))
        self.spool, self.overlay = self.place / "spool", self.place / "overlay"
        self.report = self.place / "report"

    def test_an_application_that_gets_past_the_layer(self):
        """It has removed the variable; one line at its end says so, and the gate is closed."""
        past = ("sh", "-c", 'unset OPENCL_LAYERS; "$@"', "sh", APPLICATION, "run", "twice", "threads")
        serve = (KILN, "serve", "--overlay", self.overlay)
        done = run(*serve, "--", *past)
        (line,) = said(done)
        self.assertRegex(line, r"^kiln: \S+ \(process \d+\) uses libpocl\S+ without Kiln's layer, "
                               r"so nothing was served to it; see 'kiln doctor'$")
        done = run(*serve, "--require", "final", "--", *past)
        self.assertEqual((done.code, len(said(done))), (1, 2), done.error)

    def test_a_loader_without_layers_gets_another_in_front(self):
        """Alone, the application does not even start; under Kiln it has a driver and the layer."""
        self.assertNotEqual(run(APPLICATION, "build", **OTHER).code, 0)
        recorded = run(*recording(self.spool, "build"), **OTHER)
        self.assertEqual(recorded.code, 0, recorded.error)
        self.assertIn(IN_FRONT, said(recorded)[0])
        self.assertTrue(list(self.spool.glob("cl-*.kiln")))
        served = run(*serving("--overlay", self.overlay, "--report", self.report,
                              sections=("build",)), **OTHER)
        self.assertEqual(served.output, recorded.output)
        self.assertIn(IN_FRONT, said(served)[0])
        self.assertEqual([line["layer"] for line in all_lines_of(self.report)
                          if line["outcome"] == "started"], ["serve"])

    def test_no_loader_takes_layers(self):
        """Then record runs nothing, and serve says that it does nothing."""
        variables = {**OTHER, "KILN_ICD_LOADER": LOADER}
        done = run(*recording(self.spool, "build"), **variables)
        self.assertEqual((done.code, done.output), (5, ""))
        self.assertIn("KILN_ICD_LOADER", done.error)
        done = run(*serving("--overlay", self.overlay, sections=("build",)), **variables)
        self.assertEqual(done.code, run(APPLICATION, "build", **OTHER).code)
        self.assertIn("runs without Kiln", done.error)

    def test_record_says_that_nothing_used_opencl(self):
        """An application that uses none is no failure."""
        done = run(KILN, "record", "-o", self.spool, "--", "true")
        self.assertEqual(done.code, 0)
        self.assertIn("nothing was recorded", done.error)

    def test_record_tells_of_programs_from_the_applications_cache(self):
        """The first run compiles and is recorded, the second loads its binary."""
        file = self.place / "binary"
        command = (KILN, "record", "-o", self.spool, "--", BINARY_CACHE, file)
        first = run(*command)
        self.assertEqual(said(first), [f"kiln: 1 program recorded in {self.spool}"], first.error)
        second = run(*command)
        self.assertIn(f"kiln: 0 programs recorded in {self.spool}; 1 program loaded from the "
                      "application's own binaries, not recorded", second.error)

    def test_own_binaries_are_in_every_report(self):
        """With packs and without an overlay, too."""
        file = self.place / "binary"
        for _ in range(2):
            run(KILN, "serve", "--pack", self.place, "--report", self.report, "--",
                BINARY_CACHE, file)
        (line,) = [line for line in all_lines_of(self.report) if line["outcome"] == "own_binary"]
        self.assertEqual(line["bytes"], file.stat().st_size)

    def test_lines_of_a_run(self):
        """Start, programs with their kernels, and the first result, all of one process."""
        run(*serving("--overlay", self.overlay, "--report", self.report, sections=("build", "run")))
        lines = all_lines_of(self.report)
        self.assertEqual(len({line["process"] for line in lines}), 1)
        self.assertEqual(lines[0]["application"], os.path.realpath(APPLICATION))
        self.assertIn(["add", "scale"], [line["kernels"] for line in lines_of(self.report)])
        (device,) = json.loads(run(KILN, "devices", "--json").output)["devices"][:1]
        self.assertIn([device["identity"]["device_name"]],
                      [line["devices"] for line in lines_of(self.report)])
        (first,) = [line for line in lines if line["outcome"] == "first_result"]
        self.assertGreater(first["milliseconds"], 0)
        self.assertTrue(lines_of(self.report))

    def test_a_long_compilation_is_told_once(self):
        """By the report's own times."""
        done = run_cold(*serving("--overlay", self.overlay, "--report", self.report))
        took = sum(line["milliseconds"] for line in lines_of(self.report)
                   if line["outcome"] != "served")
        kept = [line for line in said(done) if "notes them for later runs" in line]
        self.assertEqual(len(kept), 1 if took > 2000 else 0, (took, done.error))

    def test_a_report_that_cannot_be_written(self):
        """It is refused before the start; the layer tells it by itself."""
        bad = self.place / "none" / "report"
        for command in (serving("--overlay", self.overlay, "--report", bad, sections=("build",)),
                        (KILN, "record", "-o", self.spool, "--report", bad, "--", APPLICATION)):
            done = run(*command)
            self.assertEqual((done.code, done.output), (1, ""), done.error)
            self.assertEqual(said(done), [f"kiln: {bad}: No such file or directory"])
        done = run(APPLICATION, "build", OPENCL_LAYERS=LAYER, KILN_OVERLAY=str(self.overlay),
                   KILN_REPORT=str(bad))
        self.assertEqual(done.code, 0, done.error)
        self.assertEqual(said(done), [f"kiln layer: {bad}: no report: No such file or directory"])

    def test_record_ends_as_the_application_ends(self):
        """By the same code, or by the same signal; SIGTERM is passed on."""
        shell = (KILN, "record", "-o", self.spool, "--", "sh", "-c")
        self.assertEqual(run(*shell, "exit 7").code, 7)
        self.assertEqual(run(*shell, "ulimit -c 0; kill -9 $$").code, -signal.SIGKILL)
        with subprocess.Popen([*map(str, shell), "echo up; exec sleep 600"], env=environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            process.stdout.readline()
            process.terminate()
            self.assertEqual(process.wait(), -signal.SIGTERM)

    def doctor(self, *options, **variables):
        """What kiln doctor finds, and its exit code."""
        done = run_cold(KILN, "doctor", "--json", *options, **variables)
        found = json.loads(done.output)
        self.assertEqual(done.code, 1 if found["problems"] else 0, done.error)
        return found

    def test_doctor_finds_nothing_wrong(self):
        """The layer is reached, and the application reaches it."""
        found = self.doctor("--overlay", self.overlay, "--", APPLICATION, "build")
        self.assertEqual(found["problems"], [])
        self.assertTrue(found["icd_loader"]["takes_layers"])
        self.assertTrue(found["layer"]["reached"])
        self.assertTrue(found["application"]["reached"])
        self.assertEqual(sum(platform["devices"] for platform in found["platforms"]),
                         len(found["devices"]))

    def test_doctor_tells_of_programs_from_the_applications_cache(self):
        """Also without packs and an overlay, which is a problem of its own."""
        file = self.place / "binary"
        found = self.doctor("--", BINARY_CACHE, file)
        self.assertEqual((found["problems"], found["application"]["builds"]), ([
            "no pack and no overlay is named: give doctor the --pack or the --overlay that the "
            "application is served from"], 1))
        found = self.doctor("--", BINARY_CACHE, file)
        self.assertEqual(found["problems"], [
            "the application loads 1 program from binaries of its own, which the layer does not "
            "serve: empty its cache, or see docs/use/own_cache.md"])
        told = {name: found["application"][name] for name in ("builds", "served", "own_binaries")}
        self.assertEqual(told, {"builds": 0, "served": 0, "own_binaries": 1})

    def test_doctor_tells_that_packs_serve_nothing(self):
        """The pack has another application's program."""
        run(KILN, "record", "-o", self.spool, "--", BINARY_CACHE, self.place / "binary")
        found = self.doctor("--pack", self.spool, "--", APPLICATION, "build")
        built = found["application"]["builds"]
        self.assertGreater(built, 1)
        self.assertIn(f"none of the {built} programs that the application built came from a pack; "
                      "the report of its last start says why", found["problems"])

    def test_doctor_tells_how_an_application_ended_that_built_nothing(self):
        """Without a call of OpenCL, and with calls but no program."""
        found = self.doctor("--", "sh", "-c", "exit 3")
        self.assertEqual(found["problems"], ["the application made no OpenCL call that Kiln saw, and "
                                             "ended with exit code 3"])
        found = self.doctor("--", KILN, "devices")
        self.assertTrue(found["application"]["reached"])
        self.assertEqual(found["problems"],
                         ["the application built no program, and ended with exit code 0"])
        past = ("sh", "-c", 'unset OPENCL_LAYERS; "$@"', "sh", APPLICATION, "run", "twice", "threads")
        (problem,) = self.doctor("--", *past)["problems"]
        self.assertRegex(problem, r"^\S+ \(process \d+\) uses libpocl\S+ without the layer: it brings "
                                  r"a driver or an ICD loader of its own$")

    def test_doctor_puts_a_loader_in_front(self):
        """As kiln serve does; where none takes layers, that is a problem."""
        found = self.doctor(**OTHER)
        self.assertFalse(found["icd_loader"]["takes_layers"])
        self.assertTrue(found["icd_loader"]["preload"])
        self.assertTrue(found["layer"]["reached"])
        found = self.doctor(**OTHER, KILN_ICD_LOADER=LOADER)
        self.assertFalse(found["layer"]["reached"])
        self.assertTrue([text for text in found["problems"] if "does not take layers" in text])

    def test_doctor_names_what_is_wrong(self):
        """Each problem once, with its name."""
        vendors = self.place / "vendors"
        vendors.mkdir()
        (vendors / "broken.icd").write_text("/nowhere/libdriver.so\n")
        (vendors / "empty.icd").write_text("")
        found = self.doctor("--pack", self.place / "none.kiln", "--", "true",
                            OCL_ICD_VENDORS=str(vendors), KILN_OVERLEY="x")
        self.assertEqual([driver["error"] != "" for driver in found["drivers"]], [True, True])
        problems = "\n".join(found["problems"])
        for text in ("KILN_OVERLEY; did you mean KILN_OVERLAY?", "none.kiln: No such file",
                     "no OpenCL platform", "the application did not reach the layer"):
            self.assertIn(text, problems)
        shown = run_cold(KILN, "doctor", OCL_ICD_VENDORS=str(vendors)).output
        self.assertRegex(shown, r"problem: no OpenCL platform: .*\n  OpenCL library:\n  .*\n  install the "
                                r"device's driver, such as .*, or unset OCL_ICD_VENDORS, ")

    def test_doctor_tells_the_last_start(self):
        """Of the report that is named, of KILN_REPORT's, or of the application that it runs."""
        self.assertIsNone(self.doctor(KILN_REPORT=str(self.report))["last_start"])
        options = ("--overlay", self.overlay, "--report", self.report)
        run(*serving(*options, sections=("build", "run")))
        first = self.doctor("--report", self.report)["last_start"]
        self.assertEqual([row["outcome"] for row in first["outcomes"]], ["passed"])
        keep(self.overlay)
        run(*serving(*options, sections=("build", "run")))
        # Lines of another process, between and after those of the last start.
        lines = self.report.read_text().splitlines()
        old = [line for line in lines if json.loads(line)["process"] == json.loads(lines[0])["process"]]
        self.report.write_text("\n".join(old[:-1] + lines[len(old):-1] + [old[-1], lines[-1],
                                                                          "no line", old[0]]) + "\n")
        last = self.doctor(KILN_REPORT=str(self.report))["last_start"]
        self.assertEqual({row["outcome"] for row in last["outcomes"]}, {"served"})
        self.assertEqual((last["processes"], last["builds"], last["other_lines"]),
                         (1, first["builds"], 0))
        self.assertGreater(last["applications"][0]["first_result"], 0)
        text = run(KILN, "doctor", "--report", self.report).output
        self.assertIn(f"report: {self.report}: the last start that built programs\n"
                      "  1 process of 1 application, ", text)
        found = self.doctor("--overlay", self.overlay, "--", APPLICATION, "build")
        self.assertTrue(found["last_start"]["builds"])
        size = self.report.stat().st_size
        self.doctor(*options, "--", APPLICATION, "build")
        self.assertGreater(self.report.stat().st_size, size)
        self.report.unlink()
        self.report.mkdir()
        self.assertIn(f"{self.report}: Is a directory",
                      self.doctor(KILN_REPORT=str(self.report))["problems"])

    def test_printed_variables_do_what_serve_does(self):
        """The shell's form, in a shell."""
        first = run(*serving("--overlay", self.overlay, sections=("build",)))
        keep(self.overlay)
        lines = run(KILN, "serve", "--overlay", self.overlay, "--report",
                    self.report, "--print-env", "sh").output
        done = run("sh", "-c", lines + f"exec '{APPLICATION}' build")
        self.assertEqual(done.output, first.output)
        self.assertEqual({line["outcome"] for line in lines_of(self.report)}, {"served"})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])

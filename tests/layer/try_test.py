#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kiln try: records, builds and serves an application, and says what came of it.

    try_test.py KILN LAYER APPLICATION BINARY_CACHE [TEST...]

APPLICATION is application.c, and BINARY_CACHE is binary_cache.c. OCL_ICD_VENDORS chooses the driver.

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

BINARY_CACHE = os.path.abspath(sys.argv[4])
sys.argv[4:5] = []  # the rest is layer_test's
# pylint: disable=wrong-import-position
from layer_test import (APPLICATION, FOLDER, KILN, bare, environment, lines_of, run_seeded,  # noqa: E402
                        seeded)

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

NOTHING = ("kiln: nothing was recorded: the application did not reach Kiln's layer: it uses no "
           "OpenCL, or brings a driver or an ICD loader of its own; see 'kiln doctor'\n"
           "kiln: no pack was made\n")


class Try(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run_seeded(APPLICATION, "run")
        run_seeded(BINARY_CACHE, "binary")

    def setUp(self):
        self.place = Path(tempfile.mkdtemp(prefix="try", dir=FOLDER))
        self.temporary = self.place / "temporary"
        self.temporary.mkdir()
        self.work = self.place / "work"
        self.work.mkdir()

    def run_here(self, *words, text=None, **variables):
        """A command in the test's folder, which is not to leave temporary files."""
        variables = {**seeded(), "TMPDIR": str(self.temporary), "KILN_STORE": "none", **variables}
        done = subprocess.run([str(word) for word in words], cwd=self.work, check=False, text=True,
                              env=environment(**variables), capture_output=text is None,
                              **({} if text is None else text))
        self.assertEqual(os.listdir(self.temporary), [])
        return done

    def attempt(self, *words, **more):
        """kiln try with options and a command."""
        return self.run_here(KILN, "try", *words, **more)

    def shell(self, script, *options, **more):
        """kiln try of a shell's script, in which $0 is the application."""
        return self.attempt(*options, "--", "sh", "-c", script, APPLICATION, **more)

    def test_the_second_run_compiles_nothing(self):
        """Both runs print what the application prints alone, and the printed line serves."""
        alone = bare("build", "run")
        done = self.attempt("--", APPLICATION, "build", "run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, 2 * alone)
        name = Path(APPLICATION).name
        said = done.stderr.splitlines()
        self.assertIn("kiln: both runs began with empty driver caches, and printed the same", said)
        rows = {line.split()[0]: line.split()[1:] for line in said
                if line.startswith(("recorded ", "served "))}
        self.assertIn("exact", rows["served"])  # the last row: outcome and rung
        self.assertEqual(said[-2],
                         f"kiln: keep {name}.kiln; this runs the application with it:")
        self.assertNotIn("compiled ", done.stderr.split("the served run's program builds")[1])
        report = self.place / "report"
        served = self.run_here("sh", "-c", said[-1], KILN_REPORT=str(report),
                               PATH=f"{Path(KILN).parent}:{os.environ['PATH']}")
        self.assertEqual((served.returncode, served.stdout), (0, alone), served.stderr)
        self.assertEqual({(line["outcome"], line["rung"]) for line in lines_of(report)
                          if line["kernels"]}, {("served", "exact")})

    def test_json_tells_both_runs(self):
        """On standard output, which the application's own output then leaves."""
        done = self.attempt("--json", "-o", "app.kiln", "--", APPLICATION, "run",
                            KILN_LISTED_CACHES=str(self.place / "nothing"))
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["serve"], ["kiln", "serve", "--pack", "app.kiln", "--", APPLICATION,
                                         "run"])
        recorded, served = result["recorded"], result["served"]
        self.assertEqual((recorded["exit"], served["exit"]), (0, 0))
        self.assertTrue(result["same_output"])
        self.assertEqual([row["outcome"] for row in recorded["report"]["outcomes"]], ["passed"])
        self.assertEqual([(row["outcome"], row["rung"]) for row in served["report"]["outcomes"]],
                         [("served", "exact")])
        self.assertEqual(recorded["report"]["builds"], served["report"]["builds"])
        self.assertLess(sum(row["milliseconds"]["sum"] for row in served["report"]["outcomes"]),
                        sum(row["milliseconds"]["sum"] for row in recorded["report"]["outcomes"]))

    def test_runs_that_print_different_texts(self):
        """The output of each is passed on, and the first line that differs is shown."""
        script = '"$0" run > own; echo same; echo "$KILN_LAYER"; "$0" run > own; printf end'
        done = self.shell(script, "-o", "app.kiln")
        self.assertEqual((done.returncode, done.stdout), (0, "same\nrecord\nendsame\nserve\nend"))
        self.assertIn('kiln: both runs began with empty driver caches\n', done.stderr)
        self.assertIn('\nkiln: the runs printed different texts, first in line 2: "record" and "serve"\n'
                      "kiln: if two runs without Kiln differ, too, keep app.kiln; this runs the "
                      "application with it:\n", done.stderr)
        done = self.shell('"$0" run > own; [ "$KILN_LAYER" = serve ] || printf more', "-o", "app.kiln",
                          "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["same_output"]), (0, False))

    def test_only_the_devices_that_were_used_get_binaries(self):
        """The application uses the first device of two drivers."""
        vendors = self.place / "vendors"
        vendors.mkdir()
        (vendors / "a.icd").write_text("libpocl.so.2\n")
        (vendors / "b.icd").write_text("libRusticlOpenCL.so.1\n")
        two = {"OCL_ICD_VENDORS": str(vendors), "RUSTICL_ENABLE": "llvmpipe"}
        listed = json.loads(self.run_here(KILN, "devices", "--json", **two).stdout)["devices"]
        if len(listed) != 2:
            self.skipTest("there are not two drivers")
        self.assertEqual(self.attempt("-o", "app.kiln", "--", APPLICATION, "run", **two).returncode,
                         0)
        pack = json.loads(self.run_here(KILN, "pack", "inspect", "--json", "app.kiln").stdout)
        (target,) = pack["targets"]
        used = json.loads(self.run_here("sh", "-c", f"'{KILN}' serve --pack "
                                        f"app.kiln --report r -- '{APPLICATION}' run > out && "
                                        "head -n 2 r | tail -n 1", **two).stdout)
        self.assertEqual(used["devices"], [target["identity"]["device_name"]])

    def test_a_pack_that_was_not_named_is_not_replaced(self):
        """With -o it is, and binaries of the same programs stay."""
        name = Path(APPLICATION).name + ".kiln"
        self.assertEqual(self.attempt("--", APPLICATION, "run").returncode, 0)
        done = self.attempt("--", APPLICATION, "run")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, "", f"kiln: {name} exists; 'kiln try -o {name}' replaces it, and keeps "
                                 "its binaries of the same programs\n"))
        done = self.attempt("-o", name, "--", APPLICATION, "run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"kiln: keep {name};", done.stderr)
        self.assertIn("binaries: 0 compiled", done.stderr)
        (self.work / "file").write_text("not a pack")
        done = self.attempt("-o", "file", "--", APPLICATION, "run")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("it is not replaced; give another output", done.stderr)
        self.assertEqual((self.work / "file").read_text(), "not a pack")

    def test_nothing_uses_opencl(self):
        """Then there is no second run."""
        done = self.shell("echo once", "-o", "app.kiln")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "once\n", NOTHING))
        self.assertEqual(os.listdir(self.work), [])

    def test_an_application_that_fails(self):
        """Its exit code or signal is Kiln's, and the run is named."""
        done = self.shell("exit 7", "-o", "app.kiln")
        self.assertEqual((done.returncode, done.stderr),
                         (7, "kiln: the recorded run ended with exit code 7\n" + NOTHING))
        done = self.shell('"$0" run > out; exit 3', "-o", "app.kiln")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("kiln: the served run ended with exit code 3\n", done.stderr)
        self.assertTrue((self.work / "app.kiln").is_file())
        done = self.shell('"$0" run > out; test ! -e seen && touch seen', "-o", "other.kiln")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertNotIn("the recorded run ended", done.stderr)
        self.assertIn("kiln: the served run ended with exit code 1\n", done.stderr)
        done = self.shell('"$0" run > out; ulimit -c 0; kill -9 $$', "-o", "third.kiln")
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
        self.assertIn("kiln: the recorded run ended with signal 9\n", done.stderr)
        self.assertFalse((self.work / "third.kiln").exists())

    def test_programs_from_the_applications_own_cache(self):
        """The first run fills it; what the second loads from it is not served."""
        done = self.attempt("-o", "app.kiln", "--", BINARY_CACHE, "binary")
        self.assertIn("kiln: in the served run 1 program came from the application's own cache, not "
                      "from the pack", done.stderr)
        done = self.attempt("-o", "other.kiln", "--", BINARY_CACHE, "binary")
        self.assertEqual(done.returncode, 1)
        self.assertIn("kiln: 0 programs recorded; 1 program loaded from the application's own binaries, "
                      "not recorded", done.stderr)

    def test_both_runs_get_the_file_on_standard_input_and_their_own_place(self):
        """Temporary files are where the application has them without Kiln."""
        (self.place / "input").write_text("a line\n")
        with open(self.place / "input", encoding="utf-8") as text, \
             open(self.place / "output", "w+", encoding="utf-8") as output:
            done = self.shell('"$0" run > out; cat; echo $TMPDIR',  "-o", "app.kiln",
                              text={"stdin": text, "stdout": output,
                                    "stderr": subprocess.DEVNULL})
            self.assertEqual(done.returncode, 0)
            output.seek(0)
            self.assertEqual(output.read(), 2 * f"a line\n{self.temporary}\n")

    def test_an_interrupt_ends_everything(self):
        """As from a terminal, to the whole group; nothing stays."""
        with subprocess.Popen([KILN, "try", "--", "sh", "-c",
                               "echo $$; exec sleep 600"], cwd=self.work, text=True,
                              env=environment(TMPDIR=str(self.temporary)), start_new_session=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            application = int(process.stdout.readline())
            os.killpg(process.pid, signal.SIGINT)
            self.assertEqual(process.wait(), -signal.SIGINT)
        self.assertRaises(ProcessLookupError, os.kill, application, 0)
        self.assertEqual(os.listdir(self.temporary), [])


if __name__ == "__main__":
    if subprocess.run([APPLICATION, "build"], capture_output=True, check=False).returncode == 77:
        print("SKIP: there is no device")
        sys.exit(77)
    skips.run_cases(sys.argv[4:])

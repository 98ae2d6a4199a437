#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kiln serve --enable: applications that nobody starts by kiln serve are served, until --disable.

    enabled_test.py KILN LAYER APPLICATION [TEST...]

APPLICATION is application.c. OCL_ICD_VENDORS chooses the driver. What a session gets is read from the
files by systemd's own generator. Under Khronos's loader (under_khronos.sh) the list of layers counts, too.

Exit codes: 0 passed, 1 failed, 77 there is no device or no systemd.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

# pylint: disable=wrong-import-position
from layer_test import APPLICATION, FOLDER, KILN, LAYER, all_lines_of, bare, must, recording, run, run_seeded

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

GENERATOR = "/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator"
IS_KHRONOS = "khronos" in os.environ.get("LD_LIBRARY_PATH", "")


def session(config):
    """The variables of a session that begins now, as systemd hands them to its user manager."""
    script = 'eval "$("$0" | sed "s/^/export /")"; env -0'  # it quotes as for a shell
    done = subprocess.run(["sh", "-c", script, GENERATOR], check=True, text=True, stdout=subprocess.PIPE,
                          env={"XDG_CONFIG_HOME": str(config), "HOME": "/nowhere", "PATH": os.defpath})
    variables = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if entry)
    return {name: value for name, value in variables.items() if name.startswith(("OPENCL", "KILN"))}


class Enabled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.exists(GENERATOR):
            print("SKIP: systemd is not installed")
            sys.exit(77)
        if run(APPLICATION, "build").code == 77:
            print("SKIP: there is no device")
            sys.exit(77)
        cls.pack = FOLDER / "a pack \"of $HOME\\.kiln"  # quoted rightly
        spool = FOLDER / "spool"
        run_seeded(*recording(spool, "build"))
        must("compile", spool, "-o", FOLDER / "base.kiln")
        must("build", FOLDER / "base.kiln", "-o", cls.pack)

    def setUp(self):
        self.config = Path(tempfile.mkdtemp(prefix="config", dir=FOLDER))
        self.file = self.config / "environment.d/kiln.conf"
        self.report = self.config / "report"

    def kiln(self, *command, **variables):
        return run(KILN, *command, XDG_CONFIG_HOME=str(self.config), **variables)

    def enabled(self, **variables):
        """What kiln doctor says of it, as [(path, is this session's)] and its problems."""
        done = self.kiln("doctor", "--json", **variables)
        facts = json.loads(done.output)
        return ([(each["path"], each["session"]) for each in facts["enabled"]],
                [each for each in facts["problems"] if "disable" in each])

    def test_a_session_of_the_user(self):
        self.assertEqual(self.enabled(), ([], []))
        done = self.kiln("serve", "--enable", "--user", "--pack", self.pack, "--report", self.report)
        self.assertEqual((done.code, done.error), (0, ""))
        self.assertIn(f"wrote {self.file}\n", done.output)
        self.assertEqual(self.enabled(), ([(str(self.file), False)], []))
        variables = session(self.config)
        self.assertEqual(variables, {"OPENCL_LAYERS": os.path.realpath(LAYER), "KILN_PACK": str(self.pack),
                                     "KILN_REPORT": str(self.report)})
        self.assertEqual(self.enabled(**variables), ([(str(self.file), True)], []))
        done = run(APPLICATION, "build", **variables)
        self.assertEqual((done.code, done.output), (0, bare("build")))
        outcomes = {line["outcome"] for line in all_lines_of(self.report)}
        self.assertLessEqual({"started", "served"}, outcomes)
        # Within that session nothing is put twice before the driver, nor written twice.
        self.report.unlink()
        done = self.kiln("serve", "--pack", self.pack, "--", "sh", "-c", "echo $OPENCL_LAYERS", **variables)
        self.assertEqual(done.output.strip(), os.path.realpath(LAYER))
        self.assertEqual(self.kiln("serve", "--enable", "--user", **variables).code, 0)
        self.assertEqual(session(self.config), {"OPENCL_LAYERS": os.path.realpath(LAYER)})
        done = self.kiln("serve", "--disable", "--user")
        self.assertEqual((done.code, done.output), (0, f"removed {self.file}\n"))
        self.assertEqual(self.enabled(), ([], []))
        self.assertEqual(self.kiln("serve", "--disable", "--user").output, "the layer was not enabled\n")

    def test_other_layers_stay(self):
        self.kiln("serve", "--enable", "--user", OPENCL_LAYERS="/other.so")
        self.assertEqual(session(self.config)["OPENCL_LAYERS"], f"/other.so:{os.path.realpath(LAYER)}")
        self.assertEqual([path for path, _ in self.enabled()[0]], [str(self.file)])

    def test_what_someone_else_wrote_stays(self):
        self.file.parent.mkdir()
        self.file.write_text("OPENCL_LAYERS=\"/mine.so\"\n", encoding="utf-8")
        for word in ("--enable", "--disable"):
            done = self.kiln("serve", word, "--user")
            self.assertEqual(done.code, 2)
            self.assertIn(f"{self.file}: not written by", done.error)
        self.assertIn("/mine.so", self.file.read_text(encoding="utf-8"))
        self.assertEqual(self.enabled(), ([], []))

    def test_a_layer_that_is_gone_is_a_problem(self):
        self.kiln("serve", "--enable", "--user")
        text = self.file.read_text(encoding="utf-8")
        self.file.write_text(text.replace(os.path.realpath(LAYER), "/gone/libkiln_layer.so"), encoding="utf-8")
        self.assertEqual(self.enabled()[1],
                         [f"{self.file} names /gone/libkiln_layer.so, which is not there: run "
                          "'kiln serve --disable --user'"])
        self.assertEqual(self.kiln("serve", "--disable", "--user").code, 0)

    def test_what_cannot_be_enabled(self):
        for words, why in ((("--enable", "--", "true"), "--enable runs no command"),
                           (("--enable", "--overlay", "o"), "an overlay belongs to one user"),
                           (("--user", "--pack", "p"), "--user goes with --enable or --disable"),
                           (("--enable", "--user", "--require", "final"), "--require"),
                           (("--disable", "--user", "--pack", "p"), "--pack")):
            done = self.kiln("serve", *words)
            self.assertEqual(done.code, 2, words)
            self.assertIn(why, done.error)
        done = self.kiln("serve", "--enable", "--user", "--pack", "/nonexist")
        self.assertEqual(done.code, 4)
        self.assertIn("/nonexist: No such file", done.error)
        self.assertFalse(self.file.exists())

    def test_a_machine(self):
        """In another root, as root: both files; Khronos's loader reads the list."""
        if shutil.which("bwrap") is None:
            self.skipTest("there is no bubblewrap")
        etc = self.config / "etc"
        shutil.copytree("/etc", etc, symlinks=True, ignore_dangling_symlinks=True,
                        ignore=lambda folder, names: {name for name in names
                                                      if not os.access(os.path.join(folder, name), os.R_OK)})
        inside = ("bwrap", "--dev-bind", "/", "/", "--bind", etc, "/etc")
        done = run(*inside, KILN, "serve", "--enable", "--pack", self.pack)
        if "setting up uid map" in done.error or "No permissions" in done.error:
            self.skipTest("bubblewrap may not be used here")
        self.assertEqual((done.code, done.error), (0, ""))
        self.assertEqual((etc / "OpenCL/layers/kiln.lay").read_text(encoding="utf-8"),
                         os.path.realpath(LAYER) + "\n")
        self.assertTrue((etc / "environment.d/kiln.conf").exists())
        facts = json.loads(run(*inside, KILN, "doctor", "--json").output)
        self.assertEqual([(each["path"], each["user"]) for each in facts["enabled"]],
                         [("/etc/environment.d/kiln.conf", False), ("/etc/OpenCL/layers/kiln.lay", False)])
        done = run(*inside, APPLICATION, "build", KILN_PACK=str(self.pack), KILN_REPORT=str(self.report))
        self.assertEqual((done.code, done.output), (0, bare("build")))
        self.assertEqual(self.report.exists(), IS_KHRONOS)
        if IS_KHRONOS:  # also where the variable names the layer a second time
            self.assertIn("served", {line["outcome"] for line in all_lines_of(self.report)})
            self.report.unlink()
            done = run(*inside, APPLICATION, "build", KILN_PACK=str(self.pack),
                       KILN_REPORT=str(self.report), OPENCL_LAYERS=LAYER)
            self.assertEqual((done.code, done.output), (0, bare("build")))
            served = [line for line in all_lines_of(self.report) if line["outcome"] == "served"]
            self.assertEqual(len(served), len({json.dumps(line["program"]) for line in served}), served)
        done = run(*inside, KILN, "serve", "--disable")
        self.assertEqual((done.code, done.output.count("removed ")), (0, 2))
        self.assertFalse((etc / "OpenCL/layers/kiln.lay").exists())


if __name__ == "__main__":
    skips.run_cases(sys.argv[4:])

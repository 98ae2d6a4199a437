#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python wheel that pip makes of a build, installed into an empty folder.

    wheel_test.py BUILD APPLICATION WORK

BUILD is a finished build; WORK is emptied first. APPLICATION is that of the layer's tests. Exit
codes: 0 right, 1 wrong, 77 there is no pip, or no PoCL (all else was right).
"""

import base64
import csv
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import zipfile

from commands import run, run_tests

BUILD, APPLICATION, WORK = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
SITE = WORK / "site"
sys.path.insert(0, str(SOURCE / "cmake"))
import kiln_wheel  # pylint: disable=wrong-import-position


def kiln(*words, **options):
    return run(sys.executable, "-B", "-m", "kiln", *words, **options)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        name = kiln_wheel.build_wheel(WORK, {"build-dir": str(BUILD)})
        cls.wheel = WORK / name
        run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-index",
            "--disable-pip-version-check", "--target", SITE, cls.wheel)
        os.environ.update(PYTHONPATH=str(SITE), KILN_LIBRARY="", KILN_STORE="none")
        os.chdir(WORK)

    def test_its_record_has_each_file(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            (record,) = (name for name in wheel.namelist() if name.endswith("/RECORD"))
            rows = list(csv.reader(io.StringIO(wheel.read(record).decode())))
            self.assertEqual(sorted(row[0] for row in rows), sorted(wheel.namelist()))
            for name, digest, size in rows:
                if name != record:
                    content = wheel.read(name)
                    hashed = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
                    self.assertEqual((digest, int(size)),
                                     ("sha256=" + hashed.decode().rstrip("="), len(content)))

    def test_its_metadata_is_known_before_it_is_made(self):
        folder = WORK / kiln_wheel.prepare_metadata_for_build_wheel(str(WORK))
        with zipfile.ZipFile(self.wheel) as wheel:
            inside = {name for name in wheel.namelist() if name.startswith(folder.name + "/")}
            self.assertEqual({f"{folder.name}/{path.name}" for path in folder.iterdir()},
                             {name for name in inside if not name.endswith("/RECORD")})
            for path in folder.iterdir():
                self.assertEqual(path.read_bytes(), wheel.read(f"{folder.name}/{path.name}"))

    def test_it_is_complete_in_itself(self):
        version = kiln("--version").split()[1]
        self.assertIn(f"-{version}-py3-none-", self.wheel.name)
        text = run(sys.executable, "-B", "-c", "import kiln; print(kiln.__version__, kiln.Error)")
        self.assertEqual(text, f"{version} <class 'kiln._native.Error'>\n")
        self.assertEqual(run(SITE / "bin/kiln", "--version"), f"kiln {version}\n")
        run(sys.executable, "-B", SOURCE / "tests/consumer/use_module.py")
        text = run(sys.executable, "-B", "-c", f"import kiln; kiln.compile({str(SOURCE)!r} + "
                   "'/tests/consumer/add_one.toml', 'module.kiln'); "
                   "print(kiln.Pack('module.kiln').programs[0]['name'])")
        self.assertEqual(text, "add_one\n")
        self.assertIn(f"{SITE}/kiln/bin/libkiln_layer.so",
                      kiln("serve", "--print-env", "sh", "--overlay", WORK / "overlay"))
        kiln("compile", SOURCE / "tests/consumer/add_one.toml", "-o", WORK / "one.kiln")
        refused = kiln("build", WORK / "one.kiln", "-o", WORK / "no.kiln", "--virtual", "amd.toml:none", code=1)
        self.assertIn(f"{SITE}/kiln/share/kiln/virtual/amd.toml:", refused)
        notices = (SITE / f"kiln-{version}.dist-info/LICENSE").read_text(encoding="utf-8")
        self.assertRegex(notices, "(?s)Apache License.*==== libzstd-dev")

    def test_it_records_builds_and_serves(self):
        if "Portable Computing Language" not in subprocess.run(
                [sys.executable, "-m", "kiln", "devices"], stdout=subprocess.PIPE, text=True,
                check=False).stdout:
            self.skipTest("PoCL is not here")
        kiln("record", "-o", "app.spool", "--", APPLICATION, "build")
        kiln("compile", "app.spool", "-o", "base.kiln")
        kiln("build", "base.kiln", "-o", "app.kiln")
        kiln("serve", "--pack", "app.kiln", "--report", "report", "--", APPLICATION, "build")
        lines = (WORK / "report").read_text(encoding="utf-8").splitlines()
        self.assertIn("served", {json.loads(line).get("outcome") for line in lines})

    def test_the_source_of_the_version_is_the_projects(self):
        text = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
        version = re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$", text, re.MULTILINE)[1]
        self.assertIn(f"kiln-{version}-", self.wheel.name)


if __name__ == "__main__":
    pip = subprocess.run([sys.executable, "-m", "pip", "--version"], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, check=False)
    run_tests(["pip"] if pip.returncode else [])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs that the Python module makes, reads and explains by the program kiln.

    python_packs_test.py KILN APPLICATION [TEST...]

APPLICATION is application.c of this folder, and the layer lies beside KILN. OCL_ICD_VENDORS names a
folder with PoCL alone. Exit codes: 0 passed, 1 failed, 77 there is no PoCL.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

KILN, APPLICATION = (Path(path).resolve() for path in sys.argv[1:3])
SOURCE = Path(__file__).resolve().parents[2]
MODULE = SOURCE / "runtime" / "python"
PLACE = tempfile.TemporaryDirectory()
os.environ.update(PATH=f"{KILN.parent}{os.pathsep}{os.environ['PATH']}", KILN_STORE="none",
                  KILN_PACK_PATH="", PYTHONPATH=str(MODULE), HOME=PLACE.name,
                  XDG_CACHE_HOME=PLACE.name)
sys.path.insert(0, str(MODULE))
import kiln  # pylint: disable=wrong-import-position

TWICE = """
#include "factor.h"
kernel void twice(global int *out) { out[get_global_id(0)] = FACTOR * get_global_id(0) + MORE; }
"""
MANIFEST = """
schema = 1
[program.twice]
source = "twice.cl"
include_dirs = ["include"]
options = ["-DMORE=0"]
[program.twice.variant.only]
kernel = "twice"
arguments = [{ role = "output", type = "int" }]
"""
BLUR = "kernel void blur(global float *out) { out[get_global_id(0)] = TILE; }\n"


def script(folder, text):
    """Writes a program kiln that does what the text says."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "kiln"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


class Packs(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        os.chdir(tempfile.mkdtemp(dir=PLACE.name))
        self.path = os.environ["PATH"]
        self.addCleanup(os.environ.update, PATH=self.path)
        Path("include").mkdir()
        Path("include/factor.h").write_text("#define FACTOR 2\n", encoding="utf-8")
        Path("twice.cl").write_text(TWICE, encoding="utf-8")
        Path("twice.toml").write_text(MANIFEST, encoding="utf-8")
        Path("blur.cl").write_text(BLUR, encoding="utf-8")

    def refused(self, function, *arguments, **options):
        """The error that the call raises."""
        with self.assertRaises(kiln.Error) as caught:
            function(*arguments, **options)
        return caught.exception

    def built(self, **options):
        """The pack of the manifest, with PoCL's binary."""
        kiln.compile("twice.toml", "base.kiln")
        return kiln.build("base.kiln", "app.kiln", **options)

    def test_sources_become_programs(self):
        done = kiln.compile([Path("twice.cl"), "blur.cl"], Path("base.kiln"), ["-DMORE=1", "-DTILE=3"],
                            include_dirs=["include"], depfile="base.d", jobs=1)
        self.assertEqual((done["output"], done["programs"], done["failed"]), ("base.kiln", 2, 0))
        pack = kiln.Pack("base.kiln")
        self.assertEqual([(program["name"], variant["options"], variant["kernels"][0]["name"])
                          for program in pack.programs for variant in program["variants"]],
                         [(name, "-DMORE=1 -DTILE=3", name) for name in ("blur", "twice")])
        self.assertEqual((pack.targets, pack.binaries, pack.notes), ([], [], []))
        self.assertEqual(pack.size, os.stat("base.kiln").st_size)
        self.assertIn("include/factor.h", Path("base.d").read_text(encoding="utf-8"))

    def test_a_recorded_application_becomes_a_pack(self):
        subprocess.run([KILN, "record", "-o", "app.spool", "--", APPLICATION, "build"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        kiln.compile("app.spool", "base.kiln")
        names = [program["name"] for program in kiln.Pack("base.kiln").programs]
        self.assertNotEqual(names, [])
        for name in names:
            self.assertRegex(name, "^cl-[0-9a-f]{32}$")
        self.assertEqual(str(self.refused(kiln.Pack, "app.spool")),
                         "app.spool is a spool, not a pack")

    def test_binaries_are_built_and_read(self):
        done = self.built(device="Portable*")
        self.assertEqual((done["compiled"], done["reused"], done["failures"]), (1, 0, []))
        self.assertEqual(self.built(device=0)["reused"], 1)
        pack = kiln.Pack(Path("app.kiln"))
        (target,), (binary,) = pack.targets, pack.binaries
        self.assertEqual(binary[:2] + binary[4:7], ("twice", "only", "exact", "final", ""))
        self.assertEqual(binary.proof, "the program built from source, 64x64")
        self.assertEqual(target["label"], f"{binary.device} (driver {binary.driver})")
        self.assertEqual(target["profile"], "pocl")
        self.assertTrue(0 < binary.stored_size <= pack.size == os.stat("app.kiln").st_size)
        subprocess.run([KILN, "pack", "inspect", "app.kiln", "--extract", "out"], check=True,
                       stdout=subprocess.DEVNULL)
        self.assertEqual(binary.size, os.stat("out/twice/only.0.bin").st_size)
        self.built(compress="fleet")
        (stored,) = kiln.Pack("app.kiln").binaries
        self.assertEqual(stored._replace(stored_size=0), binary._replace(stored_size=0))
        self.assertLess(stored.stored_size, stored.size)

    def test_each_kind_of_binary_and_note_is_read(self):
        golden = SOURCE / "packs/golden"
        late = "its first launch took 57 ms longer than its second"
        self.assertEqual([binary[:3] + binary[4:7] + binary[8:]
                          for binary in kiln.Pack(golden / "good-v1-final.kiln").binaries],
                         [("blur", "wide", "B200", "exact", "not launched", "", 20, 20),
                          ("blur", "scalar", "B200", "exact", "not launched", "", 70, 70),
                          ("blur", "scalar", "A100", "exact", "final", "", 70, 70),
                          ("invert", "plain", "A100", "exact", "not final", late, 500, 18),
                          ("blur", "scalar", "A100", "intermediate", "not launched", "", 90, 90),
                          ("invert", "plain", "A100", "intermediate", "not launched", "", 500, 18)])
        notes = kiln.Pack(golden / "good-v1-known-bad.kiln").notes
        self.assertEqual([note["reason"] for note in notes], ["wrong sums", "one row too few"])

    def test_what_is_not_final_is_said(self):
        with self.assertLogs("kiln") as logged:
            done = self.built(no_finish=True)
        self.assertRegex(logged.output[0], "^WARNING:kiln:kiln: twice/only for .*: not final: ")
        (binary,) = kiln.Pack("app.kiln").binaries
        self.assertEqual((binary.state, binary.why), ("not final", done["unfinished"][0]["reason"]))

    def test_a_load_is_explained(self):
        self.built()
        for program in (None, "twice"):
            (report,) = kiln.explain("app.kiln", program, "Portable*")
            self.assertEqual((report["program"], report["variant"], report["rung"]),
                             ("twice", "only", "exact"))
            (report,) = kiln.explain("base.kiln", program)
            self.assertEqual(report["rung"], "source")
            self.assertIn("no target of the pack has this device's binary key",
                          [rung.get("reason") for rung in report["rungs"]])
            (report,) = kiln.explain("base.kiln", program, without="il,source")
            self.assertEqual(report["rung"], "error")

    def test_a_bad_source_is_the_compilers_error(self):
        error = self.refused(kiln.compile, "blur.cl", "base.kiln")
        self.assertIn("blur.cl:1:63: error: use of undeclared identifier 'TILE'", str(error))
        self.assertTrue(str(error).endswith("kiln: nothing was written to base.kiln"), error)
        self.assertEqual((error.exit_code, error.document), (1, None))
        self.assertFalse(os.path.exists("base.kiln"))

    def test_a_build_that_fails_in_part_has_the_rest(self):
        sources = ["twice.cl", "blur.cl"]
        error = self.refused(kiln.compile, sources, "base.kiln", "-DMORE=1", ["include"],
                             keep_going=True)
        self.assertEqual((error.exit_code, error.document["failed"]), (1, 1))
        self.assertEqual([program["name"] for program in kiln.Pack("base.kiln").programs], ["twice"])
        text = MANIFEST.replace("schema = 1", "schema = 1\n[program.blur]\nsource = 'blur.cl'\n"
                                "[program.blur.variant.only]\nkernel = 'blur'\n")
        Path("both.toml").write_text(text, encoding="utf-8")
        error = self.refused(kiln.build, "both.toml", "app.kiln")
        self.assertEqual([failure["job"] for failure in error.document["failures"]], ["blur/only"])
        self.assertEqual([binary.program for binary in kiln.Pack("app.kiln").binaries], ["twice"])

    def test_what_is_missing_is_the_programs_error(self):
        kiln.compile("twice.toml", "base.kiln")
        for text, code, function, *arguments in (
                ("none.cl: error: no such file", 3, kiln.compile, "none.cl", "out.kiln"),
                ("kiln: none.kiln: No such file or directory [not_found]", 4, kiln.Pack, "none.kiln"),
                ("kiln: -none.kiln: No such file or directory [not_found]", 4, kiln.Pack, "-none.kiln"),
                ("kiln: base.kiln has no program none: expected one of: twice", 2,
                 kiln.explain, "base.kiln", "none"),
                ('kiln: no device matches "none*"; there are:\n', 5,
                 kiln.build, "base.kiln", "out.kiln", "none*"),
                ("kiln: input is required\n", 2, kiln.compile, [], "out.kiln")):
            error = self.refused(function, *arguments)
            self.assertEqual((str(error)[:len(text)], error.exit_code), (text, code))
        self.assertRegex(str(self.refused(kiln.Pack, "a\0b")), "/kiln: embedded null byte$")
        error = self.refused(kiln.compile, "twice.toml", "out.kiln", no_such=True)
        self.assertRegex(str(error), "^kiln: unknown option --no-such: expected one of: --help, ")

    def test_a_damaged_pack_is_an_error(self):
        kiln.compile("twice.toml", "base.kiln")
        content = Path("base.kiln").read_bytes()
        for damaged, text in ((content[:-1], r"pack needs \d+ bytes, there are \d+ \[truncated\]"),
                              (b"", r"pack is empty \[empty\]"),
                              (b"\0" + content[1:], r".* \[bad_magic\]")):
            Path("damaged.kiln").write_bytes(damaged)
            for function in (kiln.Pack, kiln.explain):
                error = self.refused(function, "damaged.kiln")
                self.assertRegex(str(error), f"^kiln: damaged.kiln: {text}$")
                self.assertEqual(error.exit_code, 4)

    def test_without_the_program_it_says_what_to_install(self):
        os.environ["PATH"] = os.getcwd()
        text = "no such program inside this package or on the PATH: install the Debian package kiln, " \
            "or a wheel of Kiln"
        for call in (lambda: kiln.compile("twice.toml", "base.kiln"),
                     lambda: kiln.build("base.kiln", "app.kiln"), lambda: kiln.Pack("app.kiln"),
                     lambda: kiln.explain("app.kiln")):
            error = self.refused(call)
            self.assertEqual((str(error), error.exit_code), (text, None))
        done = subprocess.run([sys.executable, "-B", "-m", "kiln", "--version"], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, f"kiln: {text}\n"))

    def test_the_program_inside_the_package_comes_first(self):
        shutil.copytree(MODULE, "site")
        script(Path("site/kiln/bin"), "echo '{\"schema\": 1, \"words\": \"'$*'\"}'")
        text = "import kiln; print(kiln.compile('a.toml', 'b.kiln')['words'])"
        environment = {**os.environ, "PYTHONPATH": os.path.abspath("site")}
        for words, said in ((["-m", "kiln", "-x"], '{"schema": 1, "words": "-x"}'),
                            (["-c", text], "compile --json --output=b.kiln -- a.toml")):
            done = subprocess.run([sys.executable, "-B", *words], env=environment, check=True,
                                  stdout=subprocess.PIPE, text=True)
            self.assertEqual(done.stdout, said + "\n")

    def test_a_program_that_is_another_or_dies_is_an_error(self):
        path = script(Path("fake"), "")
        os.environ["PATH"] = f"{path.parent}{os.pathsep}{self.path}"
        other = f"{path} printed no JSON of schema 1: is it of another version?"
        for text, message, code in (("echo '{\"schema\": 2}'", other, 0), ("echo 1", other, 0),
                                    ("true", other, 0), ("kill -9 $$", f"{path} ended with exit code -9", -9),
                                    ("exit 3", f"{path} ended with exit code 3", 3)):
            script(path.parent, text)
            error = self.refused(kiln.explain, "app.kiln")
            self.assertEqual((str(error), error.exit_code), (message, code))

    def test_an_import_loads_no_more_than_it_needs(self):
        text = "import kiln, kiln.pyopencl, sys; print({'pyopencl', 'subprocess'} & set(sys.modules))"
        done = subprocess.run([sys.executable, "-B", "-S", "-c", text], check=True,
                              stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.stdout, "set()\n")

    def test_the_page_does_what_it_shows(self):
        page = (SOURCE / "docs/use/python.md").read_text(encoding="utf-8")
        blocks = [block for block in re.findall("^```python\n(.*?)^```$", page, re.M | re.S)
                  if "setup.py" not in block]
        done = subprocess.run([sys.executable, "-B", "-c", "".join(blocks)], check=True,
                              stdout=subprocess.PIPE, text=True)
        read, explained, failed = done.stdout.splitlines()
        self.assertRegex(read, r"^blur .+ \S+ not launched \d+$")
        self.assertEqual(explained, "blur exact ['no overlay', None]")
        self.assertIn(f"# {failed}\n", page)


if __name__ == "__main__":
    devices = subprocess.run([KILN, "devices", "--json"], capture_output=True, text=True, check=False)
    if devices.returncode or "pocl" not in {
            device["profile"] for device in json.loads(devices.stdout)["devices"]}:
        print("SKIP: PoCL is not here")
        sys.exit(77)
    with PLACE:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

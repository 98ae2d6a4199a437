#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds that share a store: killed and resumed, at once, in the user's cache, on a full disk.

    store_test.py KILN TEST-DRIVER

TEST-DRIVER is the scripted driver, which notes each program that PoCL builds behind it. KILN_KILLS
is the number of moments at which builds are killed, default 6. Exit codes: 0 passed, 1 failed, 77 a
driver or a tool is not installed.
"""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import scripted

KILN, DRIVER = sys.argv[1:3]
KILLS = int(os.environ.get("KILN_KILLS", "6"))
JOBS = 6  # of a build
AT_ONCE = 2
SCRIPT = 'log = "{folder}/calls"\n' + scripted.DEVICE
REFUSED = '[[fault]]\nat = "clBuildProgram"\ndo = "error"\ncode = -11\n'


class Place:
    """A folder with a base pack, and one driver."""

    def __init__(self, library, script=None, jobs=JOBS):
        self.temporary = tempfile.TemporaryDirectory(prefix="kiln-store-")
        self.folder = Path(self.temporary.name)
        self.variables = {**scripted.use(self.folder, library, script), "KILN_STORE": "none",
                          "RUSTICL_ENABLE": "llvmpipe", "TMPDIR": str(self.folder)}
        scripted.write_jobs(self.folder, jobs)
        self.kiln("compile", "one.toml", "-o", "base.kiln")
        self.variables["KILN_STORE"] = "jobs.sqlite"

    def start(self, *words, before=(), **variables):
        return subprocess.Popen([*before, KILN, *words], cwd=self.folder, text=True,
                                env={**self.variables, **variables}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def kiln(self, *words, **options):
        """What a command prints; it must succeed."""
        with self.start(*words, **options) as process:
            out, err = process.communicate()
            if process.returncode == 5 and "clang" in err:
                scripted.skip(err.strip())
            if process.returncode != 0:
                raise AssertionError(f"{words}: exit {process.returncode}: {err}")
            return out

    def build_words(self, output):
        return ("build", "base.kiln", "-o", output, "-j", str(AT_ONCE), "--no-finish", "--json")

    def build(self, output, **options):
        return json.loads(self.kiln(*self.build_words(output), **options))

    def bytes(self, name):
        return (self.folder / name).read_bytes()

    def rows(self):
        """The store's jobs, with what changes when one is put again."""
        if not (self.folder / "jobs.sqlite").exists():
            return {}
        with contextlib.closing(sqlite3.connect(self.folder / "jobs.sqlite")) as database:
            try:
                return {key: rest for key, *rest in database.execute(
                    "select key, answer, milliseconds, finished, deaths from jobs")}
            except sqlite3.OperationalError:  # killed before there was a table
                return {}

    def compiled(self):
        """How many programs were built from source, by any process."""
        calls = self.folder / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        return sum(" clBuildProgram source " in line for line in lines)

    def clear(self):
        for file in self.folder.glob("jobs.sqlite*"):
            file.unlink()


class Killed(unittest.TestCase):
    def test_a_build_killed_at_any_moment_goes_on_and_makes_the_same_pack(self):
        place = Place("libRusticlOpenCL.so.1")  # which makes the same binaries each time
        start = time.monotonic()
        self.assertEqual(place.build("whole.kiln")["compiled"], JOBS)
        seconds = time.monotonic() - start
        kept = set()
        for i in range(KILLS):
            place.clear()
            with place.start(*place.build_words("out.kiln")) as process:
                while process.poll() is None and len(place.rows()) < i * JOBS // KILLS:
                    time.sleep(0.002)
                time.sleep(seconds / JOBS * (i % 4) / 4)  # and somewhere within a job
                process.kill()
                process.communicate()
            before = place.rows()
            kept.add(len(before))
            result = place.build("out.kiln")
            if result["up_to_date"]:  # it had ended
                self.assertEqual(len(before), JOBS)
            else:
                self.assertEqual((result["stored"], result["compiled"]),
                                 (len(before), JOBS - len(before)))
            self.assertEqual(place.bytes("out.kiln"), place.bytes("whole.kiln"), f"moment {i}")
            after = place.rows()
            self.assertEqual({key: after[key] for key in before}, before)
            (place.folder / "out.kiln").unlink()
        self.assertGreater(len(kept), 2, "the moments were all alike")

    def test_a_build_killed_again_and_again_compiles_again_what_was_in_flight_and_no_more(self):
        place = Place(DRIVER, SCRIPT)
        kills = 0
        for wanted in range(1, JOBS, 2):
            with place.start(*place.build_words("out.kiln")) as process:
                while place.compiled() < wanted + AT_ONCE * kills and process.poll() is None:
                    time.sleep(0.001)
                kills += process.poll() is None
                process.kill()
            self.assertLessEqual(place.compiled(), len(place.rows()) + AT_ONCE * kills)
        result = place.build("out.kiln")
        self.assertEqual(result["stored"] + result["compiled"], JOBS)
        self.assertGreater(kills, 0)
        self.assertLessEqual(place.compiled(), JOBS + AT_ONCE * kills)
        self.assertEqual(place.build("again.kiln")["stored"], JOBS)
        self.assertEqual(place.bytes("again.kiln"), place.bytes("out.kiln"))


class Shared(unittest.TestCase):
    def test_two_builders_at_once_share_the_work(self):
        place = Place(DRIVER, SCRIPT)
        both = [place.start(*place.build_words(f"{i}.kiln")) for i in range(2)]
        results = []
        for process in both:
            with process:
                out, err = process.communicate()
                self.assertEqual(process.returncode, 0, err)
                self.assertNotIn("without the store", err)
                results.append(json.loads(out))
        for result in results:
            self.assertEqual(result["compiled"] + result["stored"], JOBS)
        self.assertEqual(sum(result["compiled"] for result in results), JOBS)
        self.assertEqual(place.compiled(), JOBS)
        self.assertEqual(place.bytes("0.kiln"), place.bytes("1.kiln"))

    def test_what_a_killed_builder_was_at_is_done_by_the_other(self):
        place = Place(DRIVER, SCRIPT)
        first = place.start(*place.build_words("0.kiln"))
        while place.compiled() == 0:
            time.sleep(0.001)
        with place.start(*place.build_words("1.kiln")) as second, first:
            while place.compiled() < AT_ONCE + 1:
                time.sleep(0.001)
            first.kill()
            out = second.communicate()[0]
        result = json.loads(out)
        self.assertEqual(result["compiled"] + result["stored"], JOBS)
        self.assertEqual(result["failures"], [])


class Refused(unittest.TestCase):
    def test_variables_that_change_code_are_in_neither_build_nor_store(self):
        place = Place(DRIVER, SCRIPT)
        result = place.build("out.kiln", POCL_EXTRA_BUILD_FLAGS="-Dkernel=+")
        self.assertEqual(result["compiled"], JOBS)
        self.assertEqual(place.build("again.kiln")["stored"], JOBS)

    def test_what_the_compiler_refused_is_tried_again_with_fresh_failed_alone(self):
        place = Place(DRIVER, SCRIPT + REFUSED)
        made = []
        for option in ((), (), ("--fresh=failed",)):
            before = place.compiled()
            with place.start(*place.build_words("out.kiln"), *option) as process:
                out, err = process.communicate()
            self.assertEqual(process.returncode, 1, err)
            self.assertEqual(len(json.loads(out)["failures"]), JOBS)
            made.append(place.compiled() - before)
        self.assertEqual(made, [JOBS, 0, JOBS])


class Places(unittest.TestCase):
    def test_the_store_is_in_the_users_cache_unless_the_environment_names_another(self):
        place = Place("libRusticlOpenCL.so.1", jobs=1)
        folder = place.folder
        words = ("build", "base.kiln", "--no-finish", "--fresh", "-o", "out.kiln")
        expected = [
            ({"XDG_CACHE_HOME": str(folder / "cache"), "KILN_STORE": ""}, "cache/kiln/jobs.sqlite"),
            ({"XDG_CACHE_HOME": "cache2", "KILN_STORE": ""}, "home/.cache/kiln/jobs.sqlite"),
            ({"KILN_STORE": "mine.sqlite"}, "mine.sqlite"),
            ({"KILN_STORE": "none"}, None)]
        seen = set()
        for variables, file in expected:
            place.kiln(*words, **variables)
            now = {str(path.relative_to(folder)) for path in folder.rglob("*.sqlite")}
            self.assertEqual(now - seen, {file} - {None})
            seen = now

    def test_what_is_proven_again_stays_final_also_in_the_store(self):
        place = Place("libRusticlOpenCL.so.1")  # whose binaries need entries of Mesa's shader cache
        (place.folder / "k.cl").write_text(
            "kernel void a(global uint *out, uint width) { out[get_global_id(0)] = width; }\n"
            "kernel void b(global uint *out, uint width) { out[get_global_id(0)] = 0u + width; }\n")

        def build(output, tolerance):
            (place.folder / "m.toml").write_text(
                'schema = 1\n[program.p]\nsource = "k.cl"\nreference = "variant:a"\n'
                'arguments = [{ role = "output", type = "uint", extent = ["width"] }, '
                '{ role = "width" }]\n[program.p.variant.a]\nkernel = "a"\nrange = ["width"]\n'
                f'[program.p.variant.b]\nkernel = "b"\nrange = ["width"]\ntolerance = {tolerance}\n')
            built = json.loads(place.kiln("build", "m.toml", "-o", output, "--json"))
            (target,) = json.loads(place.kiln("pack", "inspect", output, "--json"))["targets"]
            return built, {binary["variant"]: (binary["provenance"]["finish"]["final"],
                                               binary["cache_entries"]["raw_size"])
                           for binary in target["binaries"]}

        _, first = build("out.kiln", 0)
        self.assertEqual({final for final, _ in first.values()}, {"yes"})
        built, again = build("out.kiln", 5)
        self.assertEqual((built["compiled"], built["proven"]), (0, 1))
        self.assertEqual(again, first)
        built, stored = build("other.kiln", 5)
        self.assertEqual((built["compiled"], built["stored"]), (0, 2))
        self.assertEqual(stored, first)

    def test_on_a_full_disk_the_build_goes_on_without_it(self):
        scripted.need_small_folders(self)
        place = Place("libRusticlOpenCL.so.1", jobs=2)
        (place.folder / "small").mkdir()
        small = ("bwrap", "--dev-bind", "/", "/", "--size", "65536", "--tmpfs",
                 str(place.folder / "small"))
        with place.start(*place.build_words("out.kiln"), before=small,
                         KILN_STORE="small/jobs.sqlite") as process:
            out, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(json.loads(out)["compiled"], 2)
        self.assertIn("kiln: going on without the store: small/jobs.sqlite: ", err)


if __name__ == "__main__":
    scripted.need("libRusticlOpenCL.so.1", "libpocl.so.2")
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An application that knows nothing of Kiln cannot tell whether the layer is there.

    layer_test.py KILN LAYER APPLICATION [TEST...]

APPLICATION is application.c of this folder, and sources.c is beside it. OCL_ICD_VENDORS chooses the driver; what the
application prints was made for PoCL. Every run that may be served has an empty cache folder of
PoCL's, so that nothing but Kiln can be warm.

Exit codes: 0 passed, 1 failed, 77 there is no device or no tool to build with.
"""

import collections
import difflib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

KILN, LAYER, APPLICATION = (os.path.abspath(path) for path in sys.argv[1:4])
# Where a pack is bad the programs are the driver's, and these sections have enough of them.
SHORT = ("platform", "build", "run")
SOURCES = os.path.join(os.path.dirname(APPLICATION), "kiln_sources_application")
KEYS = {"process", "program", "kernels", "devices", "outcome", "reason", "rung", "nearest",
        "milliseconds", "schema"}
KIND = {"key_hash", "model", "driver"}  # where there is a program, of one kind of device
USUAL = re.compile(r"kiln: (\d+ programs? recorded in|nothing was recorded)"
                   r"|kiln layer: this run compiles programs")
OUTCOMES = {"served", "compiled", "passed"}
# keep() builds it: kiln serve does not in these tests, which would not see its end.
KEPT = "; it is noted for 'kiln overlay build'"

# What docs/use/layer.md says that an application can see: lines that begin so are not compared.
# PoCL says that what was built before options that it refuses is still an executable.
SERVED = ("rebuild.option unknown: BINARY_TYPE",)
# PoCL forgets the arguments of a program that its cache answers for.
COMPILED = (*SERVED, "kernels.without names: argument")
# An overlay keeps no log.
OVERLAID = (*COMPILED, "build.with a warning: LOG")

Run = collections.namedtuple("Run", "code output error")
PLACE = tempfile.TemporaryDirectory()
FOLDER = Path(PLACE.name)
BARE = {}  # output of the application alone, by its sections and variables
# PoCL's cache of the runs where every program is the driver's.
WARM = {"POCL_CACHE_DIR": str(FOLDER / "warm")}
# What PoCL has compiled, for seeded().
SEED = FOLDER / "seed"
SEED.mkdir()


def environment(**variables):
    """Ours, with an empty cache folder and without what a layer is told by."""
    kept = {name: value for name, value in os.environ.items()
            if name != "OPENCL_LAYERS" and not name.startswith("KILN_")}
    return {**kept, "POCL_CACHE_DIR": tempfile.mkdtemp(prefix="cache", dir=FOLDER),
            "MESA_SHADER_CACHE_DIR": str(FOLDER / "mesa"), "KILN_PACK_PATH": "", "KILN_BACKGROUND": "0", **variables}


def seeded():
    """Variables of a start that finds what PoCL compiled in earlier ones, by run_seeded(): most of a
    compilation is reading PoCL's own functions, 9 MB of bitcode. The code of launches is not there,
    since a binary has that of its own start's. PoCL finds a program by its text with all included
    files, so a wrong text is compiled as ever. The builder begins its caches with the same."""
    folder = Path(tempfile.mkdtemp(prefix="cache", dir=FOLDER))
    link_programs(SEED, folder)
    return {"POCL_CACHE_DIR": str(folder), "KILN_LISTED_CACHES": str(SEED)}


def link_programs(source, target):
    """Links PoCL's compiled programs into another cache folder."""
    for program in source.glob("*/*/program.bc"):
        place = target / program.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            os.link(program, place)


def run_seeded(*command, **variables):
    """Runs a command with seeded(), and keeps what PoCL compiled."""
    variables = {**seeded(), **variables}
    done = run(*command, **variables)
    link_programs(Path(variables["POCL_CACHE_DIR"]), SEED)
    return done


def start(*command, **variables):
    """A process in a folder of its own, so that two can run at once."""
    # pylint: disable=consider-using-with
    return subprocess.Popen([str(word) for word in command], env=environment(**variables),
                            cwd=tempfile.mkdtemp(prefix="run", dir=FOLDER), text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process, text=""):
    """Waits for a process that start() began."""
    with process:
        output, error = process.communicate(text)
    return Run(process.returncode, output, error)


def run(*command, text="", **variables):
    """Runs a command to its end."""
    return finish(start(*command, **variables), text)


def must(*command):
    """A command of kiln's that has to succeed."""
    done = run_seeded(KILN, *command)
    if done.code == 5:
        print(f"SKIP: {done.error.strip()}")
        sys.exit(77)
    if done.code != 0:
        raise AssertionError(f"{command}: exit code {done.code}: {done.error}")
    return done


def bare(*sections, **variables):
    """What the application prints without the layer."""
    key = (sections, *sorted(variables.items()))
    if key not in BARE:
        done = run(APPLICATION, *sections, **variables)
        if done.code == 77:
            print(done.output.strip())
            sys.exit(77)
        if done.code != 0:
            raise AssertionError(f"the application alone: exit code {done.code}: {done.error}")
        BARE[key] = done.output
    return BARE[key]


def recording(spool, *sections):
    """The command of the application under kiln record."""
    return (KILN, "record", "-o", spool, "--", APPLICATION, *sections)


def serving(*options, sections=()):
    """The command of the application under kiln serve."""
    return (KILN, "serve", *options, "--", APPLICATION, *sections)


def record(spool, *sections, **variables):
    """Runs the application under kiln record."""
    return run(*recording(spool, *sections), **variables)


def serve(*options, sections=(), **variables):
    """Runs the application under kiln serve."""
    return run(*serving(*options, sections=sections), **variables)


def is_kept(line):
    """Whether the overlay has the program at the next start, says its line of the report."""
    return line["reason"].endswith(KEPT)


def keep(overlay):
    """Does what kiln serve would do for an overlay after a start."""
    must("overlay", "build", overlay)


def without(text, prefixes):
    """The text without the lines that begin with one of the prefixes."""
    return "".join(line for line in text.splitlines(keepends=True)
                   if not line.startswith(tuple(prefixes)))


def times_of(paths, root="/"):
    """Name, time of change and size of each file."""
    return {os.path.relpath(path, root): (path.stat().st_mtime_ns, path.stat().st_size)
            for path in paths}


def files_of(spool):
    """The same of each program's file in a spool."""
    return times_of([path for path in Path(spool).rglob("*")
                     if path.is_file() and path.name not in ("starts", "links")], spool)


def programs_in(overlay):
    """The files of cached programs, by their names."""
    return sorted(Path(overlay).glob("cl-*.kiln"))


def complaints(done):
    """Kiln's lines on standard error, but for what it says of each recording and long compilation."""
    return [line for line in done.error.splitlines() if "kiln" in line and not USUAL.match(line)]


def all_lines_of(report):
    """The lines of a report."""
    return [json.loads(line) for line in Path(report).read_text(encoding="utf-8").splitlines()]


def lines_of(report):
    """The report's lines of programs."""
    return [line for line in all_lines_of(report) if "program" in line]


def end_without_core():
    """Commands that die by a signal leave no core file behind."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class LayerTest(unittest.TestCase):
    """What the tests share: one recording and its packs, and the comparison."""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.spool = FOLDER / "app.spool"
        cls.base = FOLDER / "base.kiln"
        cls.built = FOLDER / "app.kiln"
        if cls.built.exists():
            return
        bare(*SHORT)
        end_without_core()
        done = LayerTest.recorded = record(cls.spool, POCL_CACHE_DIR=str(FOLDER / "recorded"))
        if done.code != 0:
            raise AssertionError(f"kiln record: exit code {done.code}: {done.error}")
        must("compile", cls.spool, "-o", cls.base)
        must("build", cls.base, "-o", cls.built)

    def setUp(self):
        self.place = Path(tempfile.mkdtemp(prefix="test", dir=FOLDER))

    def same(self, done, sections=(), but=SERVED):
        """The run ended and printed as it does without the layer, but for lines that begin so."""
        self.assertEqual(done.code, 0, done.error)
        expected, got = without(bare(*sections), but), without(done.output, but)
        if got != expected:
            self.fail("\n".join(difflib.unified_diff(
                expected.splitlines(), got.splitlines(), "alone", "with the layer", "", "", n=0,
                lineterm="")))

    def quiet(self, done):
        """The layer said nothing."""
        self.assertEqual(complaints(done), [])

    def one_complaint(self, done):
        """The layer said one thing, on a line of its own."""
        said = complaints(done)
        self.assertEqual(len(said), 1, done.error)
        self.assertTrue(said[0].startswith("kiln layer: "), done.error)

    def reported(self, report):
        """The lines of a report, each of which makes sense."""
        lines = lines_of(report)
        self.assertTrue(lines)
        for line in lines:
            self.assertEqual(set(line), KEYS | KIND if line["devices"] else KEYS, line)
            self.assertIn(line["outcome"], OUTCOMES, line)
            self.assertEqual(line["outcome"] == "served", line["reason"] == "", line)
            self.assertEqual(line["outcome"] == "passed", line["rung"] == "", line)
            self.assertGreaterEqual(line["milliseconds"], 0, line)
            if line["rung"] == "exact":  # no driver loads a binary in less
                self.assertGreater(line["milliseconds"], 0.02, line)
        return lines

    def count(self, lines, **values):
        """How many lines have all of these values."""
        return sum(all(line[key] == value for key, value in values.items()) for line in lines)


class Alone(LayerTest):
    """Without anything to do the layer is not there."""

    def test_the_application_prints_the_same_twice(self):
        """Else no comparison would mean anything."""
        self.same(run(APPLICATION, *SHORT), SHORT)

    def test_a_layer_that_was_told_nothing_changes_nothing(self):
        """OPENCL_LAYERS may be set for all of a machine."""
        done = run(APPLICATION, *SHORT, OPENCL_LAYERS=LAYER, **WARM)
        self.same(done, SHORT)
        self.quiet(done)

    def test_a_layer_told_nonsense_changes_nothing(self):
        """KILN_LAYER has a word of another version, and no folder is named."""
        done = run(APPLICATION, *SHORT, OPENCL_LAYERS=LAYER, KILN_LAYER="dance", **WARM)
        self.same(done, SHORT)
        self.quiet(done)
        done = run(APPLICATION, *SHORT, OPENCL_LAYERS=LAYER, KILN_LAYER="record", **WARM)
        self.same(done, SHORT)
        self.quiet(done)


class Recording(LayerTest):
    """kiln record notes what is built and changes nothing of it."""

    def test_the_output_is_the_same(self):
        """All sections, into a spool that is new."""
        self.same(self.recorded)
        self.quiet(self.recorded)

    def test_a_second_recording_adds_nothing(self):
        """A program that is known is not written again."""
        before = files_of(self.spool)
        self.assertTrue(before)
        self.same(record(self.spool, *SHORT), SHORT)
        self.assertEqual(files_of(self.spool), before)

    def test_two_recordings_at_once_make_the_spool_of_one(self):
        """No file is lost, half written or left over."""
        one, both = self.place / "one.spool", self.place / "both.spool"
        record(one, *SHORT)
        command = recording(both, *SHORT)
        processes = [start(*command), start(*command)]
        for process in processes:
            self.same(finish(process), SHORT)
        self.assertEqual(set(files_of(both)), set(files_of(one)))
        for spool in (one, both):
            must("compile", spool, "-o", spool.with_suffix(".kiln"))
        self.assertEqual(both.with_suffix(".kiln").read_bytes(),
                         one.with_suffix(".kiln").read_bytes())

    def test_recordings_of_parts_make_the_spool_of_the_whole(self):
        """One spool grows run by run."""
        spool = self.place / "parts.spool"
        record(spool, "run")
        first = files_of(spool)
        self.assertLess(len(first), len(files_of(self.spool)))
        record(spool, POCL_CACHE_DIR=str(FOLDER / "recorded"))
        grown = files_of(spool)
        self.assertEqual({name: grown[name] for name in first}, first)
        self.assertEqual(set(grown), set(files_of(self.spool)))

    def test_what_was_launched_is_recorded_and_final(self):
        """PoCL has nothing left to compile at the first launch of what it was."""
        listed = json.loads(must("pack", "inspect", self.built, "--json").output)
        variants = [variant for program in listed["programs"] for variant in program["variants"]]
        launched = {variant["hash"] for variant in variants if variant["launches"]}
        self.assertTrue(launched)
        self.assertLess(len(launched), len(variants))
        for variant in variants:
            kinds = [(launch["kernel"], launch["local"], launch["wide"], launch["moved"])
                     for launch in variant["launches"]]
            self.assertEqual(len(kinds), len({str(kind) for kind in kinds}), kinds)
            self.assertLessEqual({kind[0] for kind in kinds},
                                 {kernel["name"] for kernel in variant["kernels"]})
        (target,) = listed["targets"]
        seen = set()
        for binary in target["binaries"]:
            finish = binary["provenance"]["finish"]
            final = "yes" if binary["variant_hash"] in launched else "not launched"
            # PoCL 3.1 loses the code of a program that is linked with a library.
            is_link = "/linked-" in binary["variant"]
            if is_link and finish["final"] == "no":
                final = "no"
            seen.add((is_link, final))
            self.assertEqual(finish["final"], final, finish)
        self.assertIn((True, "yes"), seen)
        again = json.loads(must("build", "--dry-run", self.base, "-o", self.built, "--json").output)
        self.assertEqual([job for job in again["jobs"] if job["need"] == "compile"], [])

    def test_without_finishing_what_was_launched_is_seen_to_compile(self):
        """The check before can fail."""
        spool, base, plain = (self.place / name for name in ("one.spool", "one.kiln", "plain.kiln"))
        record(spool, "run")
        must("compile", spool, "-o", base)
        must("build", "--no-finish", base, "-o", plain)
        listed = json.loads(must("pack", "inspect", plain, "--json").output)
        launched = {variant["hash"] for program in listed["programs"]
                    for variant in program["variants"] if variant["launches"]}
        self.assertTrue(launched)
        (target,) = listed["targets"]
        for binary in target["binaries"]:
            if binary["variant_hash"] in launched:
                finish = binary["provenance"]["finish"]
                self.assertEqual((finish["final"], finish["why_not_final"]),
                                 ("no", "its first launch compiles"), finish)

    def test_texts_that_differ_at_each_start_are_named(self):
        """Three starts of one command: of one file the text changes, of the other it does not."""
        spool, steady, changing = (self.place / name for name in ("app.spool", "s.cl", "c.cl"))
        steady.write_text("kernel void steady(global int *out) { *out = 1; }")
        named = []
        for number in range(3):
            self.assertEqual(named, [])
            changing.write_text(f"kernel void changing(global int *out) {{ *out = {number}; }}")
            done = run(KILN, "record", "-o", spool, "--", SOURCES, "", steady, changing)
            self.assertEqual(done.code, 0, done.error)
            listed = json.loads(must("pack", "inspect", spool, "--json").output)
            self.assertEqual(len(listed["programs"]), 2 + number)
            named = listed["not_reproducible"]
        kernels = {program["name"]: program["variants"][0]["kernels"][0]["name"]
                   for program in listed["programs"]}
        self.assertEqual([kernels[name] for name in named], ["changing"] * 3)
        for name in named:
            self.assertIn(f"not reproducible: {name}", must("pack", "inspect", spool).output)
        self.assertIn("warning: 3 programs differ at each start",
                      must("compile", spool, "-o", self.place / "b.kiln").error)

    def test_links_of_several_programs_are_recorded_and_built(self):
        """The build makes them of their parts, and a start served compiles only the library's."""
        spool, report = self.place / "app.spool", self.place / "report"
        sections = ["link_several"]
        done = run(KILN, "record", "-o", spool, "--report", report, "--", APPLICATION, *sections)
        self.same(done, sections)
        recorded = {line["program"] for line in lines_of(report)
                    if line["reason"] == "it is recorded"}
        self.assertEqual(len(recorded), 4)
        listed = json.loads(must("pack", "inspect", spool, "--json").output)["programs"]
        self.assertEqual({program["name"] for program in listed}, recorded)
        base, built = self.place / "base.kiln", self.place / "built.kiln"
        must("compile", spool, "-o", base)
        must("build", base, "-o", built)
        must("pack", "verify", built)
        report.unlink()
        self.same(serve("--pack", built, "--report", report, sections=sections), sections)
        lines = lines_of(report)
        self.assertEqual({line["program"] for line in lines if line["rung"] == "exact"}, recorded)
        self.assertEqual({line["reason"] for line in lines if line["rung"] != "exact"},
                         {"no pack has it", "it is a library"})

    def layer_records(self, spool):
        """The application with the layer as kiln record sets it, into a spool that kiln refuses."""
        return run(APPLICATION, *SHORT, **WARM, OPENCL_LAYERS=LAYER, KILN_LAYER="record",
                   KILN_SPOOL=str(spool))

    def test_a_spool_that_cannot_be_written_is_one_complaint(self):
        """The layer may find it so when the application runs, long after kiln record looked."""
        (self.place / "file").write_text("no folder")
        for spool in (self.place / "file", self.place / "file" / "app.spool",
                      Path("/proc/nowhere/app.spool")):
            with self.subTest(spool):
                done = self.layer_records(spool)
                self.same(done, SHORT)
                self.one_complaint(done)

    def test_a_spool_that_cannot_be_made_is_an_error_of_the_command(self):
        """kiln record says why it records nothing, and runs nothing."""
        (self.place / "file").write_text("no folder")
        done = record(self.place / "file" / "app.spool", *SHORT)
        self.assertEqual((done.code, done.output), (1, ""))
        self.assertIn("app.spool", done.error)


class Proof(LayerTest):
    """kiln compile takes what includes files only if clang reads the files as it reads the text."""

    @classmethod
    def setUpClass(cls):
        bare("platform")  # nothing of the others' recording

    KERNEL = "kernel void answer(global int *out) { *out = VALUE; }\n"

    def record_sources(self, options, **sources):
        """Files in a folder of their own, of which those whose names end in _cl are built."""
        folder, spool = self.place / "app", self.place / "app.spool"
        folder.mkdir(exist_ok=True)
        for name, text in sources.items():
            (folder / name.replace("_", ".")).write_text(text)
        built = [folder / name.replace("_", ".") for name in sources if name.endswith("_cl")]
        done = run(KILN, "record", "-o", spool, "--", SOURCES, f"{options} -I {folder}", *built)
        self.assertEqual(done.code, 0, done.error)
        return spool

    def refused(self, spool, *reasons):
        """kiln compile names the one program and the reasons, and leaves it out with -k."""
        base = self.place / "refused.kiln"
        for options in ((), ("-k",)):
            done = run(KILN, "compile", *options, spool, "-o", base)
            self.assertEqual(done.code, 1, done.error)
            (line,) = [line for line in done.error.splitlines() if line.startswith("kiln: cl-")]
            for reason in reasons:
                self.assertIn(reason, line)
        return line.split(":")[1].strip()

    def test_a_program_with_its_files_is_proven_and_served(self):
        """What is in the spool is enough: the application's own files may be gone."""
        spool = self.record_sources(
            "-DX=41", k_cl='#include "one.h"\n' + self.KERNEL, m_cl="kernel void m() {}\n",
            one_h='#pragma once\n#include "two.h"\n#include "two.h"\n',
            two_h="#ifndef TWO\n#define TWO\n#define VALUE X + 1\n#endif\n")
        self.assertEqual(len(list(spool.glob("cl-*.kiln"))), 2)
        self.assertEqual(len(list(spool.glob("cl-*.files"))), 1)
        shutil.rmtree(self.place / "app")
        self.assertIn("2 programs", must("compile", spool, "-o", self.place / "base.kiln").output)

    def test_each_set_of_texts_has_a_file_and_each_place_has_not(self):
        """A second recording from another folder adds nothing."""
        texts = {"k_cl": '#include "v.h"\n' + self.KERNEL, "v_h": "#define VALUE 1\n"}
        before = files_of(self.record_sources("", **texts))
        (self.place / "app").rename(self.place / "moved")
        self.assertEqual(files_of(self.record_sources("", **texts)), before)

    def test_a_header_that_says_otherwise_is_refused(self):
        """The side file was changed."""
        spool = self.record_sources("", k_cl='#include "v.h"\n' + self.KERNEL,
                                    v_h="#define VALUE 1\n")
        (path,) = spool.glob("*.files")
        path.write_bytes(path.read_bytes().replace(b"#define VALUE 1", b"#define VALUE 2"))
        name = self.refused(spool, "clang reads '2' at", "<program>:2",
                            "but '1'")
        self.assertTrue(path.name.startswith(name))
        path.write_bytes(path.read_bytes()[:-1])
        self.refused(spool, path.name, "damaged")

    def test_a_program_whose_files_are_not_there_is_refused_until_it_is_recorded_again(self):
        """An older Kiln wrote no such file."""
        texts = {"k_cl": '#include "v.h"\n' + self.KERNEL, "v_h": "#define VALUE 1\n"}
        spool = self.record_sources("", **texts)
        (path,) = spool.glob("*.files")
        path.unlink()
        self.refused(spool, "record it again")
        self.record_sources("", **texts)
        must("compile", spool, "-o", self.place / "base.kiln")

    def test_a_wrong_text_is_refused_whatever_the_flattener_does(self):
        """Two headers with one guard: a text is built that takes v.h to be there already."""
        rest = "#ifndef VALUE\n#define VALUE 1\n#endif\n" + self.KERNEL
        wrong = '#line 1 "<program>"\n#define G\n#ifndef G\n#define VALUE 2\n#endif\n' + rest
        spool = self.record_sources("", k_cl=wrong)
        name = self.refused(spool, "record it again")
        blocks = [("options", " "), ("folder", "/app"),
                  ("source", '#include "a.h"\n#include "b.h"\n#include "v.h"\n' + rest)]
        for path, text in (("a.h", "#ifndef G\n#define G\n#endif\n"),
                           ("b.h", '#ifndef G\n#define G\n#include "v.h"\n#endif\n'),
                           ("v.h", "#pragma once\n#define VALUE 2\n")):
            blocks += [("path", f"/app/{path}"), ("identity", path), ("text", text)]
        text = "kiln files 1\n" + "".join(f"{word} {len(block)}\n{block}\n"
                                          for word, block in (*blocks, ("end", "")))
        (spool / f"{name}-0123456789abcdef.files").write_text(text)
        self.refused(spool, "clang reads '2' at /app/<program>:7", "but '1'")

    def test_an_include_for_another_platform_is_left(self):
        """The text has it still, and macros of this platform hide it."""
        spool = self.record_sources("", k_cl='#ifdef __APPLE__\n#include <a.h>\n#endif\n' +
                                    self.KERNEL.replace("VALUE", "1"))
        must("compile", spool, "-o", self.place / "base.kiln")


class Serving(LayerTest):
    """kiln serve gives the driver binaries, and the application sees its own programs."""

    def test_the_output_is_the_same_with_the_built_pack(self):
        """Everything that was recorded is served as an exact binary."""
        report = self.place / "report"
        done = serve("--pack", self.built, "--report", report)
        self.same(done, but=SERVED)
        self.quiet(done)
        lines = self.reported(report)
        self.assertGreater(self.count(lines, outcome="served", rung="exact"), 0)
        self.assertEqual(self.count(lines, outcome="compiled"), 0)
        served = {line["program"] for line in lines if line["outcome"] == "served"}
        built_before = {line["program"] for line in lines
                        if line["reason"] == "the driver built it before"}
        recorded = {path.stem for path in self.spool.glob("*.kiln")}
        self.assertLessEqual(served, recorded)
        self.assertLessEqual(recorded - served, built_before)

    def test_the_output_is_the_same_with_nothing_built(self):
        """A base pack has only what the application brings itself."""
        report = self.place / "report"
        done = serve("--pack", self.base, "--report", report)
        self.same(done, but=COMPILED)
        self.quiet(done)
        lines = self.reported(report)
        self.assertGreater(self.count(lines, outcome="compiled", rung="source"), 0)
        self.assertEqual(self.count(lines, rung="exact"), 0)

    def test_what_is_known_to_be_wrong_is_not_served(self):
        """Without its binary a program is compiled from the pack's source; without any rung the
        driver builds it for the application."""
        notes, pack, report = (self.place / name for name in ("notes.toml", "noted.kiln", "report"))
        for rungs, outcome in (('rungs = ["exact"]', "compiled"), ("", "passed")):
            notes.write_text(f'version = 1\n[[note]]\nprofile = "pocl"\n{rungs}\n'
                             'reason = "one row too few"\n', encoding="utf-8")
            must("pack", "merge", self.built, notes, "-o", pack)
            done = serve("--pack", pack, "--report", report)
            self.same(done, but=COMPILED)
            lines = self.reported(report)
            self.assertEqual(self.count(lines, rung="exact"), 0)
            wrong = [line for line in lines if "known to be wrong: one row too few" in str(line)]
            self.assertGreater(self.count(wrong, outcome=outcome), 0)
            self.assertLessEqual({line["outcome"] for line in wrong}, {outcome, "passed"})
            report.unlink()

    def test_an_overlay_serves_what_it_kept(self):
        """Beside a pack without binaries: the first start is the application's own, the second
        compiles nothing; a third with damaged files does, and works."""
        options = ("--pack", self.base, "--overlay", self.place / "overlay")
        self.same(serve(*options, "--report", self.place / "first"))
        lines = self.reported(self.place / "first")
        missed = [line for line in lines if "no target of the pack" in line["reason"]]
        self.assertGreater(len(missed), 0)
        for line in missed:
            self.assertEqual((line["outcome"], is_kept(line)), ("passed", True), line)
        keep(self.place / "overlay")
        self.same(serve(*options, "--report", self.place / "second"), but=OVERLAID)
        lines = self.reported(self.place / "second")
        self.assertGreaterEqual(self.count(lines, outcome="served", rung="exact"), len(missed))
        self.assertEqual(self.count(lines, outcome="compiled"), 0)
        for path in (self.place / "overlay").rglob("*"):
            if path.is_file():
                path.write_bytes(b"\x5a" * path.stat().st_size)
        self.same(serve(*options), but=OVERLAID)

    def test_an_overlay_alone_keeps_what_the_driver_builds(self):
        """The first start is the application's own, and the second compiles nothing of it."""
        overlay, first, second = (self.place / name for name in ("overlay", "first", "second"))
        self.same(serve("--overlay", overlay, "--report", first))
        lines = self.reported(first)
        self.assertEqual(self.count(lines, outcome="served", rung="exact") +
                         self.count(lines, outcome="passed"), len(lines))
        kept = {line["program"] for line in lines if is_kept(line)}
        self.assertGreater(len(kept), 0)
        keep(overlay)
        self.assertEqual(overlay.stat().st_mode & 0o777, 0o700)
        done = serve("--overlay", overlay, "--report", second)
        self.same(done)
        self.quiet(done)
        lines = self.reported(second)
        self.assertEqual([line for line in lines if is_kept(line)], [])
        self.assertLessEqual(kept, {line["program"] for line in lines if line["rung"] == "exact"})
        must("overlay", "clear", overlay)
        self.assertEqual(list(overlay.iterdir()), [])

    def test_an_overlay_serves_links_of_several_programs(self):
        """The second start neither compiles the parts nor links them, but for a library."""
        overlay, report = self.place / "overlay", self.place / "report"
        options = ("--overlay", overlay, "--report", report)
        seen = []
        for _ in range(2):
            self.same(serve(*options, sections=["link_several"]), ["link_several"])
            seen.append(self.reported(report))
            report.unlink()
            keep(overlay)
        kept = {line["program"] for line in seen[0] if is_kept(line)}
        self.assertEqual(len(kept), 4)
        self.assertEqual({line["program"] for line in seen[1] if line["rung"] == "exact"}, kept)
        self.assertEqual({line["reason"] for line in seen[1] if line["program"] not in kept},
                         {"the driver does not build it", "it is a library"})
        must("overlay", "clear", overlay)
        self.assertEqual(list(overlay.iterdir()), [])

    def kept(self, overlay):
        """Of each program that the overlay keeps: kernels and sizes launched, and its binary."""
        keep(overlay)
        found = {}
        for path in programs_in(overlay):
            out = Path(tempfile.mkdtemp(dir=self.place))
            must("pack", "inspect", path, "--extract", out)
            (binary,) = out.glob("*/*.bin")
            (program,) = json.loads(must("pack", "inspect", path, "--json").output)["programs"]
            launches = [(launch["kernel"], launch["local"])
                        for launch in program["variants"][0]["launches"]]
            found[path.name] = (launches, binary.read_bytes())
        return found

    def test_an_overlay_alone_has_code_for_what_was_launched(self):
        """The second start launches more, of what it was served, and the third nothing new."""
        overlay, task = self.place / "overlay", ("scale", [1, 1, 1])
        sections, code = ("build", "run"), b"/scale/1-1-1-goffs0-smallgrid/"
        self.same(serve("--overlay", overlay, sections=sections[:1]), sections[:1])
        first = self.kept(overlay)
        self.same(serve("--overlay", overlay, sections=sections), sections)
        second = self.kept(overlay)
        for launches, binary in (*first.values(), *second.values()):
            if launches:
                self.assertTrue(b"-goffs0-smallgrid/" in binary)
        (name,) = [name for name in first if task in second[name][0]]
        self.assertNotIn(task, first[name][0])
        self.assertEqual([code in kept[name][1] for kept in (first, second)], [False, True])
        times = times_of(programs_in(overlay))
        self.same(serve("--overlay", overlay, sections=sections), sections)
        keep(overlay)
        self.assertEqual(times_of(programs_in(overlay)), times)

    def test_what_was_built_is_not_tried_at_each_start(self):
        """Also where PoCL, without its own cache, has no code to give the application's process."""
        overlay, seen = self.place / "overlay", []
        for _ in range(2):
            done = run(KILN, "serve", "--overlay", overlay, "--", APPLICATION, "run",
                       POCL_KERNEL_CACHE="0")
            self.same(done, ["run"])
            keep(overlay)
            seen.append(times_of(programs_in(overlay)))
        self.assertEqual(*seen)
        for launches, binary in self.kept(overlay).values():
            self.assertTrue(launches)
            self.assertTrue(b"-goffs0-smallgrid/" in binary)

    def test_a_kept_program_that_was_damaged_is_built_and_kept_again(self):
        """As a start that was killed while the disk was full may leave it; what another process
        may still be writing stays."""
        overlay, report = self.place / "overlay", self.place / "report"
        self.same(serve("--overlay", overlay, sections=SHORT), SHORT)
        keep(overlay)
        files = programs_in(overlay)
        writing, abandoned = (files[0].with_suffix(f".kiln.{n}.tmp") for n in (1, 2))
        for file in (*files, writing, abandoned):
            file.write_bytes(files[0].read_bytes()[:100])
        os.utime(abandoned, (0, 0))
        self.same(serve("--overlay", overlay, sections=SHORT), SHORT)
        keep(overlay)
        self.assertEqual([path.exists() for path in (writing, abandoned)], [True, False])
        self.same(serve("--overlay", overlay, "--report", report, sections=SHORT), SHORT)
        self.assertEqual([line for line in self.reported(report) if is_kept(line)], [])

    def test_nothing_is_kept_where_others_may_write(self):
        """What lies in an overlay is given to the driver."""
        overlay = self.place / "overlay"
        overlay.mkdir()
        overlay.chmod(0o777)
        done = serve("--overlay", overlay, sections=SHORT, **WARM)
        self.same(done, SHORT)
        self.one_complaint(done)
        self.assertEqual(list(overlay.iterdir()), [])

    def test_a_place_of_the_whole_system_serves_without_a_word(self):
        """What an image of a container sets."""
        folder, report = self.place / "packs", self.place / "report"
        folder.mkdir()
        shutil.copy(self.built, folder / "app.kiln")
        path = f"/nowhere/packs:{folder}"
        done = run(APPLICATION, *SHORT, OPENCL_LAYERS=LAYER, KILN_PACK_PATH=path,
                   KILN_REPORT=str(report))
        self.same(done, SHORT)
        self.quiet(done)
        lines = self.reported(report)
        self.assertGreater(self.count(lines, outcome="served", rung="exact"), 0)

    def test_a_pack_of_other_programs_passes_all_on(self):
        """Every line says that no binary was there."""
        record(self.place / "other.spool", "threads")
        must("compile", self.place / "other.spool", "-o", self.place / "other.kiln")
        report = self.place / "report"
        done = serve("--pack", self.place / "other.kiln", "--report", report, sections=SHORT,
                     **WARM)
        self.same(done, SHORT)
        self.quiet(done)
        lines = self.reported(report)
        self.assertEqual(self.count(lines, outcome="passed"), len(lines))

    def test_a_program_with_included_files_is_served_by_what_they_hold(self):
        """Its header changes while its source and its options do not."""
        report = self.place / "report"
        done = serve("--pack", self.built, "--report", report, sections=["include"])
        self.same(done, ["include"])
        lines = self.reported(report)
        self.assertEqual(self.count(lines, outcome="served"), len(lines))
        self.assertEqual(len({line["program"] for line in lines}), len(lines))

    def test_a_program_with_another_included_file_is_not_served(self):
        """One recording knows the first of the two headers alone."""
        spool, base, report = (self.place / name for name in ("spool", "base.kiln", "report"))
        self.same(record(spool, "include"), ["include"])
        names = sorted(name for name in files_of(spool) if name.endswith(".kiln"))
        self.assertEqual(len(names), 2)
        (spool / names[0]).unlink()
        must("compile", spool, "-o", base)
        done = serve("--pack", base, "--report", report, sections=["include"])
        self.same(done, ["include"], COMPILED)
        lines = self.reported(report)
        self.assertEqual(self.count(lines, outcome="compiled"), 1)
        self.assertEqual(self.count(lines, reason="no pack has it"), 1)

    def test_a_report_that_cannot_be_written_changes_nothing(self):
        """kiln serve refuses it, and the layer by itself complains once."""
        done = run(APPLICATION, *SHORT, OPENCL_LAYERS=LAYER, KILN_PACK=str(self.built),
                   KILN_REPORT="/proc/nowhere/report")
        self.same(done, SHORT)
        self.one_complaint(done)
        done = run(APPLICATION, *SHORT, OPENCL_LAYERS=LAYER, KILN_PACK=str(self.built),
                   KILN_REPORT_DIR="/proc/nowhere")
        self.same(done, SHORT)
        self.one_complaint(done)

    def test_processes_report_into_files_of_their_own_in_a_folder(self):
        """`kiln report` sums what a log shipper would take."""
        folder = self.place / "reports"
        command = serving("--pack", self.built, "--report", f"{folder}/", sections=["threads"])
        for process in [start(*command) for _ in range(3)]:
            self.same(finish(process), ["threads"])
        files = sorted(folder.iterdir())
        self.assertEqual(len(files), 3)
        for file in files:
            lines = all_lines_of(file)
            self.assertEqual(lines[0]["application"], os.path.basename(APPLICATION))
            self.assertEqual(len({line["process"] for line in lines}), 1)
            self.assertEqual({line["schema"] for line in lines}, {1})
        sums = json.loads(run(KILN, "report", folder, "--json").output)
        self.assertEqual((sums["processes"], sums["builds"]), (3, 3 * 8 * 5))
        (device,) = sums["keys"]
        self.assertEqual((device["processes"], device["builds"]), (3, 3 * 8 * 5))
        listed = json.loads(run(KILN, "devices", "--json").output)["devices"]
        self.assertIn(device["key_hash"], [one["key_hash"] for one in listed])

    def test_processes_report_whole_lines_into_one_file(self):
        """An application of several processes has one report."""
        report = self.place / "report"
        command = serving("--pack", self.built, "--report", report, sections=["threads"])
        for process in [start(*command) for _ in range(3)]:
            self.same(finish(process), ["threads"])
        self.assertEqual(len(self.reported(report)), 3 * 8 * 5)  # processes, threads, rounds


class Folders(LayerTest):
    """Several packs."""

    def test_the_pack_with_a_binary_is_taken_whatever_its_place(self):
        """A base pack that comes before the built one hides nothing."""
        folder = self.place / "packs"
        folder.mkdir()
        shutil.copy(self.base, folder / "a.kiln")
        shutil.copy(self.built, folder / "b.kiln")
        report = self.place / "report"
        self.same(serve("--pack", folder, "--report", report, sections=SHORT), SHORT)
        lines = self.reported(report)
        self.assertGreater(self.count(lines, outcome="served", rung="exact"), 0)
        self.assertEqual(self.count(lines, outcome="compiled"), 0)


    def test_more_packs_than_an_application_can_have_open_are_one_complaint(self):
        """The first of them serve."""
        folder = self.place / "packs"
        folder.mkdir()
        for number in range(300):
            (folder / f"{number:03}.kiln").symlink_to(self.built)
        report = self.place / "report"
        done = serve("--pack", folder, "--report", report, sections=SHORT)
        self.same(done, SHORT)
        self.one_complaint(done)
        self.assertIn("256.kiln", done.error)
        self.assertGreater(self.count(self.reported(report), outcome="served"), 0)


class BadPacks(LayerTest):
    """A pack that is no use costs a line on standard error and nothing else."""

    def harmless(self, pack):
        """The application runs as without the layer, which complains once and serves nothing."""
        report = self.place / "report"
        done = serve("--pack", pack, "--report", report, sections=SHORT, **WARM)
        self.same(done, SHORT)
        self.one_complaint(done)
        self.assertEqual(self.count(self.reported(report), outcome="passed"),
                         len(lines_of(report)))
        report.unlink()

    def test_a_pack_that_is_not_there(self):
        """Neither the file nor its folder."""
        self.harmless(self.place / "none.kiln")
        self.harmless(self.place / "nowhere" / "none.kiln")

    def test_a_pack_of_an_empty_spool(self):
        """kiln compile makes none of it, or one without programs."""
        done = run(KILN, "record", "-o", self.place / "empty.spool", "--", "true")
        self.assertEqual(done.code, 0, done.error)
        pack = self.place / "empty.kiln"
        run(KILN, "compile", self.place / "empty.spool", "-o", pack)
        if not pack.exists():
            self.harmless(pack)
            return
        done = serve("--pack", pack, sections=SHORT, **WARM)
        self.same(done, SHORT)
        self.quiet(done)

    def test_a_folder_without_packs(self):
        """A folder may get its packs later."""
        done = serve("--pack", self.place, sections=SHORT, **WARM)
        self.same(done, SHORT)
        self.quiet(done)

    def test_a_pack_of_garbage(self):
        """Nothing, a text, and bytes as many as a pack has."""
        size = self.built.stat().st_size
        for name, content in (("empty", b""), ("text", b"#!/bin/sh\n"), ("bytes", b"\x5a" * size)):
            with self.subTest(name):
                (self.place / name).write_bytes(content)
                self.harmless(self.place / name)

    def test_a_pack_that_was_cut(self):
        """In its first bytes, in the middle, and short of one byte."""
        whole = self.built.read_bytes()
        for size in (1, 7, 64, len(whole) // 4, len(whole) // 2, len(whole) - 1):
            with self.subTest(size):
                (self.place / "cut.kiln").write_bytes(whole[:size])
                self.harmless(self.place / "cut.kiln")

    def test_a_pack_with_damaged_bytes_serves_what_is_whole(self):
        """Each part is checked when it is used, so that little may be lost."""
        whole = self.built.read_bytes()
        for part in range(1, 8, 2):
            with self.subTest(part):
                damaged = bytearray(whole)
                start_of = len(whole) * part // 8
                damaged[start_of:start_of + 64] = b"\x5a" * 64
                (self.place / "damaged.kiln").write_bytes(damaged)
                done = serve("--pack", self.place / "damaged.kiln", sections=SHORT)
                self.same(done, SHORT)
                self.assertLessEqual(done.error.count("kiln layer: "), 1, done.error)

    def test_a_good_pack_serves_beside_a_bad_one(self):
        """In either order."""
        (self.place / "bad.kiln").write_bytes(b"bad")
        for packs in ((self.built, self.place / "bad.kiln"), (self.place / "bad.kiln", self.built)):
            with self.subTest(packs[0].name):
                report = self.place / f"report of {packs[0].name}"
                done = serve("--pack", packs[0], "--pack", packs[1], "--report", report,
                             sections=SHORT)
                self.same(done, SHORT)
                self.one_complaint(done)
                self.assertGreater(self.count(self.reported(report), rung="exact"), 0)


class Commands(LayerTest):
    """kiln record and kiln serve become the command."""

    def under(self, *command, text="", **variables):
        """The command's run under each, by name."""
        return {name: run(KILN, name, *options, "--", *command, text=text, **variables)
                for name, options in (("record", ("-o", self.place / "spool")),
                                      ("serve", ("--pack", self.built)))}.items()

    def test_exit_codes_are_passed_on(self):
        """Those of the command, whatever kiln means by them elsewhere."""
        for code in (0, 1, 2, 5, 7, 77, 255):
            for name, done in self.under("sh", "-c", f"exit {code}"):
                with self.subTest(name):
                    self.assertEqual((done.code, done.output, complaints(done)), (code, "", []))

    def test_a_death_by_a_signal_is_told(self):
        """As a shell tells it, or as the death itself, which a shell turns into the same."""
        for signal, code in (("TERM", 143), ("KILL", 137), ("SEGV", 139), ("PIPE", 141)):
            for name, done in self.under("sh", "-c", f"kill -{signal} $$"):
                with self.subTest(name):
                    exit_code = done.code if done.code >= 0 else 128 - done.code
                    self.assertEqual(exit_code, code, done.error)

    def test_words_and_standard_input_are_passed_on(self):
        """Byte for byte, options of the command included."""
        command = ("sh", "-c", 'printf "[%s]" "$@"; cat', "sh", "a b", "", "--pack", "-o")
        for name, done in self.under(*command, text="input\n"):
            with self.subTest(name):
                self.assertEqual((done.code, done.output, complaints(done)),
                                 (0, "[a b][][--pack][-o]input\n", []))

    def test_the_layer_is_put_behind_those_of_the_user(self):
        """Other layers stay."""
        command = ("sh", "-c", 'echo "$OPENCL_LAYERS"')
        for name, done in self.under(*command, OPENCL_LAYERS="/other.so"):
            with self.subTest(name):
                self.assertEqual(done.code, 0, done.error)
                first, ours = done.output.strip().split(":")
                self.assertEqual(first, "/other.so")
                self.assertTrue(os.path.samefile(ours, LAYER))

    def test_a_command_that_is_not_there_is_an_error_with_its_name(self):
        """The exit code is none that says that all is well."""
        for name, done in self.under("no-such-command"):
            with self.subTest(name):
                self.assertNotEqual(done.code, 0)
                self.assertIn("no-such-command", done.error)

    def test_no_command_is_a_usage_error(self):
        """With the two dashes or without them."""
        for words in (("record", "-o", "spool"), ("serve", "--pack", self.built)):
            for dashes in ((), ("--",)):
                with self.subTest(words[0], dashes=dashes):
                    done = run(KILN, *words, *dashes)
                    self.assertEqual((done.code, done.output), (2, ""))
                    self.assertNotEqual(done.error, "")

    def test_no_place_for_programs_is_a_usage_error(self):
        """Of a spool, a pack and an overlay, none has a default."""
        for name in ("record", "serve"):
            with self.subTest(name):
                done = run(KILN, name, "--", "true")
                self.assertEqual((done.code, done.output), (2, ""))

    def test_a_kiln_away_from_its_layer_says_so_and_runs_nothing(self):
        """Rather than without the layer."""
        shutil.copy(KILN, self.place / "kiln")
        done = run(self.place / "kiln", "serve", "--pack", self.built, "--", "echo", "ran")
        self.assertEqual((done.code, done.output), (5, ""))
        self.assertIn("libkiln_layer.so", done.error)


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
    finally:
        PLACE.cleanup()

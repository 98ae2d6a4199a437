#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kiln serve --require: a program that would need a compiler fails, and so does the command.

    require_test.py KILN LAYER APPLICATION

APPLICATION is steps.c of this folder. OCL_ICD_VENDORS chooses the driver.

Exit codes: 0 passed, 1 failed, 77 there is no device.
"""

import json
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import yaml
except ImportError:
    yaml = None

from layer_test import APPLICATION, FOLDER, KILN, LAYER, PLACE, must, run_seeded as run

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import skips  # pylint: disable=wrong-import-position

ROOT = Path(__file__).resolve().parents[2]
KERNEL = "kernel void k(global int *out) {{ out[get_global_id(0)] = {}; }}\n"


class Require(unittest.TestCase):
    """A pack with a program that was launched, and one with a program that was only built."""

    @classmethod
    def setUpClass(cls):
        cls.place = Path(tempfile.mkdtemp(prefix="require", dir=FOLDER))
        for number, name in enumerate(("launched", "built", "new"), 1):
            (cls.place / f"{name}.cl").write_text(KERNEL.format(number), encoding="utf-8")
        if run(APPLICATION).code == 77:
            print("SKIP: there is no OpenCL device")
            sys.exit(77)
        spool, cls.base, cls.pack = (str(cls.place / name) for name in
                                     ("spool", "base.kiln", "app.kiln"))
        must("record", "-o", spool, "--", APPLICATION,
             *cls.steps("launched", "build", "launch:1"), *cls.steps("built", "tried"))
        must("compile", spool, "-o", cls.base)
        must("build", cls.base, "-o", cls.pack)

    @classmethod
    def steps(cls, name, *steps):
        """The steps with a source."""
        return (f"source:{cls.place / name}.cl", *steps)

    def gate(self, word, pack, *steps, **variables):
        """The application under kiln serve --require."""
        return run(KILN, "serve", "--pack", pack, "--require", word, "--",
                   *steps, **variables)

    def test_each_rung_alone(self):
        """Recorded launches are repeated, and their memory compared; what was only built is only
        loaded, and what is linked is a binary or nothing."""
        spool, base, pack = (str(self.place / name) for name in
                             ("each.spool", "each.base", "each.kiln"))
        (self.place / "steps.h").write_text("#define VALUE 5\n", encoding="utf-8")
        must("record", "-o", spool, "--", APPLICATION,
             *self.steps("launched", "build", "launch:1"), *self.steps("built", "tried"),
             f"cd:{self.place}", "compile", "link", "launch:1")
        must("compile", spool, "-o", base)
        must("build", base, "-o", pack)
        done = run(KILN, "run", "--pack", pack, "--rung", "each")
        self.assertEqual((done.code, done.error), (0, ""), done.output)
        said = {line.split()[0]: [] for line in done.output.splitlines()}
        for line in done.output.splitlines():
            said[line.split()[0]].append(" ".join(line.split()[1:]))
        self.assertEqual(sum(name.startswith("cl-") for name in said), 3, said)
        unlaunched = "loaded: cannot launch variant "
        binaries, sources = said["exact"], said["source"]
        self.assertEqual(sum("compared with no reference" in text for text in binaries), 2, said)
        self.assertEqual(sum(text.startswith(unlaunched) for text in binaries), 1, said)
        self.assertEqual(sum("equals the first result" in text for text in sources), 1, said)
        self.assertEqual(sum(text.startswith(unlaunched) for text in sources), 1, said)
        self.assertIn("missed: it is linked of compiled programs, which only the builder does",
                      sources)

    def test_a_rung_by_force(self):
        """The pack's binary is passed over; a gate takes what comes of it, or not."""
        steps = self.steps("launched", "build", "launch:1")
        for rung in ("il", "source"):
            report = self.place / rung
            done = run(KILN, "serve", "--pack", self.pack, "--rung", rung,
                       "--overlay", self.place / "overlay", "--report", report, "--", APPLICATION,
                       *steps)
            self.assertEqual((done.code, done.output), (0, "result 1\n"), done.error)
            (line,) = [json.loads(line) for line in report.read_text().splitlines()
                       if '"program"' in line]
            self.assertEqual((line["outcome"], line["rung"], line["reason"]),
                             ("compiled", line["rung"], f"forced to {rung}"))
            self.assertIn(line["rung"], (rung, "source"))  # PoCL 3.1 takes no SPIR-V
        self.assertFalse((self.place / "overlay").exists())
        done = self.gate("exact", self.pack, APPLICATION, *steps, KILN_RUNG="exact")
        self.assertEqual((done.code, done.output), (0, "result 1\n"), done.error)
        done = self.gate("il", self.pack, APPLICATION, *self.steps("built", "tried"),
                         KILN_RUNG="sauce")
        self.assertEqual((done.code, done.output), (1, "refused\n"))
        self.assertIn("expected exact, intermediate, il or source; taken as source", done.error)

    def check(self, word, pack, steps, expected):
        """What the application prints, and how many builds the gate refused."""
        done = self.gate(word, pack, APPLICATION, *steps)
        refused = expected.count("refused")
        self.assertEqual((done.code, done.output.split()), (int(refused > 0), expected), done.error)
        self.assertIn(f"--require {word}: {refused} of {len(expected)} program builds refused",
                      done.error)
        return done.error

    def test_a_program_more_than_the_pack_has_fails_the_gate(self):
        """It is named, with what records it."""
        steps = self.steps("built", "tried")
        self.check("exact", self.pack, steps, ["built"])
        said = self.check("exact", self.pack, (*steps, *self.steps("new", "tried")),
                          ["built", "refused"])
        self.assertRegex(said, r"kiln layer: refused cl-\w{32} \(kernels k\): no pack has it \(KILN_REQUIRE=exact\)")
        self.assertIn(f"kiln record -o missing.spool -- {APPLICATION} source:", said)

    def test_the_lines_that_the_gate_prints_add_to_the_pack(self):
        """What was in it stays; an application without a pack gets one."""
        folder = Path(tempfile.mkdtemp(dir=self.place))
        pack = folder / "my app.kiln"
        shutil.copy(self.pack, pack)
        new, old = self.steps("new", "tried"), self.steps("built", "tried")
        for packs, made in (((pack,), pack), ((pack, self.base), folder / "missing.kiln")):
            shutil.copy(self.pack, pack)
            gate = [KILN, "serve", "--require", "exact"]
            options = [word for one in packs for word in ("--pack", one)]
            done = run(*gate, *options, "--", APPLICATION, *new)
            self.assertEqual(done.code, 1, done.error)
            lines = [line for line in done.error.splitlines() if line.startswith("  kiln ")]
            script = f"cd {folder}; rm -rf missing.spool; kiln() {{ '{KILN}' \"$@\"; }}\n"
            done = run("bash", "-ec", script + "\n".join(lines), KILN_STORE="none")
            self.assertEqual(done.code, 0, done.error)
            options = [word for one in {*packs, made} for word in ("--pack", one)]
            done = run(*gate, *options, "--", APPLICATION, *old, *new)
            self.assertEqual((done.code, done.output), (0, "built\nbuilt\n"), done.error)

    @unittest.skipUnless(yaml, "PyYAML is not here")
    def test_the_pipeline_of_the_examples(self):
        """It is well formed; its gate lets the application pass until it compiles one program more."""
        pipeline = yaml.safe_load((ROOT / "examples/pipeline.yml").read_text(encoding="utf-8"))
        self.assertEqual(set(pipeline), {"name", True, "jobs"})  # YAML 1.1 reads "on" so
        job = pipeline["jobs"]["gate"]
        self.assertEqual(set(job), {"runs-on", "steps"})
        for step in job["steps"]:
            self.assertEqual(len({"run", "uses"} & set(step)), 1)
            self.assertLessEqual(set(step), {"name", "run", "uses", "if"})
        lines = [step["run"] for step in job["steps"] if "run" in step]
        folder = Path(tempfile.mkdtemp(dir=self.place))
        (folder / "tools").mkdir()
        (folder / "tools/kiln").symlink_to(KILN)
        application = folder / "application"

        def finds(*steps):
            application.write_text(f'#!/bin/sh\nexec {APPLICATION} {" ".join(steps)}\n',
                                   encoding="utf-8")
            application.chmod(0o755)

        def codes():
            done = [run("bash", "-ec", f"cd {folder}; {line}",
                        PATH=f"{folder}/tools:{os.environ['PATH']}", KILN_STORE="none")
                    for line in lines]
            return [one.code for one in done], done[2].error
        steps = self.steps("launched", "build", "launch:1")
        finds(*steps)
        must("record", "-o", folder / "app.spool", "--", application)
        found, said = codes()
        self.assertEqual(found, [0] * len(lines), said)
        finds(*steps, *self.steps("new", "tried"))
        found, said = codes()
        self.assertEqual(found, [0, 0, 1, 0, 0], said)
        self.assertRegex(said, r"refused cl-\w{32} \(kernels k\): no pack has it")
        self.assertIn("kiln record -o missing.spool -- ./application\n", said)

    def test_a_driver_s_update_is_rehearsed(self):
        """The pack is of one driver, and the application has another."""
        icd = self.place / "new"
        icd.mkdir()
        (icd / "rusticl.icd").write_text("libRusticlOpenCL.so.1\n", encoding="ascii")
        new = {"OCL_ICD_VENDORS": str(icd), "RUSTICL_ENABLE": "llvmpipe"}
        if run(APPLICATION, **new).code == 77:
            self.skipTest("rusticl is not here")
        done = self.gate("exact", self.pack, APPLICATION, *self.steps("built", "tried"), **new)
        self.assertEqual((done.code, done.output), (1, "refused\n"), done.error)
        self.assertIn("exact: no target of the pack has this device's binary key", done.error)

    def test_final_wants_a_launch(self):
        """The binary that nobody launched is exact only."""
        done = self.gate("final", self.pack, APPLICATION,
                         *self.steps("launched", "build", "launch:1"))
        self.assertEqual((done.code, done.output), (0, "result 1\n"), done.error)
        said = self.check("final", self.pack, self.steps("built", "tried"), ["refused"])
        self.assertIn("its binary is not final: no launch is known", said)

    def test_source_is_never_enough(self):
        """A pack of source alone, by each word."""
        for word in ("il", "exact", "final"):
            said = self.check(word, self.base, self.steps("built", "tried"), ["refused"])
            self.assertIn("exact: no target of the pack has this device's binary key", said)

    def test_the_log_tells_the_reason(self):
        """As a compiler's would."""
        done = self.gate("exact", self.pack, APPLICATION, *self.steps("new", "tried", "said"))
        self.assertRegex(done.output, r"^refused\n-2 Kiln compiles nothing here: cl-\w{32} \(kernels k\): no "
                         r"pack has "
                         r"it \(KILN_REQUIRE=exact\)\n\n$")

    def test_parts_and_links_are_refused(self):
        """clCompileProgram fails, unless the pack has what is linked of it."""
        header = self.place / "steps.h"
        header.write_text("#define VALUE 5\n", encoding="utf-8")
        parts = (f"cd:{self.place}", "compile:-I .", "link", "launch:1")
        done = self.gate("exact", self.pack, APPLICATION, *parts)
        self.assertEqual((done.code, done.output), (1, "clCompileProgram: -15\n"), done.error)
        self.assertIn("1 of 1 program builds refused", done.error)
        done = self.gate("exact", self.pack, APPLICATION, f"cd:{self.place}", "header:steps.h")
        self.assertEqual((done.code, done.output.split()[0]), (1, "refused"), done.error)
        self.assertIn("1 of 1 program builds refused", done.error)  # not its link, too
        spool, base, pack = (str(self.place / name) for name in
                             ("parts.spool", "parts.base.kiln", "parts.kiln"))
        must("record", "-o", spool, "--", APPLICATION, *parts)
        must("compile", spool, "-o", base)
        must("build", base, "-o", pack)
        done = self.gate("exact", pack, APPLICATION, *parts)
        self.assertEqual((done.code, done.output), (0, "result 5\n"), done.error)
        done = self.gate("exact", pack, APPLICATION, f"cd:{self.place}", "compile:-I .", "turned")
        self.assertEqual((done.code, done.output), (1, "clLinkProgram: -17\n"), done.error)

    def test_an_application_that_is_not_reached_fails_the_gate(self):
        """Nothing was checked then."""
        done = self.gate("exact", self.pack, "true")
        self.assertEqual(done.code, 1)
        self.assertIn("did not reach Kiln's layer, so nothing was checked", done.error)

    def test_the_variable_is_the_same(self):
        """Without kiln serve; a word that nobody knows is the strictest."""
        for word, said in (("exact", ""), ("exakt", "expected il, exact or final; taken as final")):
            done = run(APPLICATION, *self.steps("new", "tried"), OPENCL_LAYERS=LAYER,
                       KILN_REQUIRE=word)
            self.assertEqual((done.code, done.output), (0, "refused\n"))
            self.assertIn(said, done.error)
        done = run(KILN, "serve", "--pack", self.pack, "--require", "exact",
                   "--print-env", "sh")
        self.assertIn("export KILN_REQUIRE='exact'", done.output)


if __name__ == "__main__":
    with PLACE:
        skips.run_cases(sys.argv[4:])

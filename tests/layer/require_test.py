#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kiln serve --require: a program that would need a compiler fails, and so does the command.

    require_test.py KILN LAYER APPLICATION

APPLICATION is steps.c of this folder. OCL_ICD_VENDORS chooses the driver.

Exit codes: 0 passed, 1 failed, 77 there is no device.
"""

import sys
import tempfile
import unittest
from pathlib import Path

from layer_test import APPLICATION, FOLDER, KILN, LAYER, PLACE, must, run

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
        must("record", "--layer", LAYER, "-o", spool, "--", APPLICATION,
             *cls.steps("launched", "build", "launch:1"), *cls.steps("built", "tried"))
        must("compile", spool, "-o", cls.base)
        must("build", cls.base, "--store", "none", "-o", cls.pack)

    @classmethod
    def steps(cls, name, *steps):
        """The steps with a source."""
        return (f"source:{cls.place / name}.cl", *steps)

    def gate(self, word, pack, *steps, **variables):
        """The application under kiln serve --require."""
        return run(KILN, "serve", "--layer", LAYER, "--pack", pack, "--require", word, "--",
                   *steps, **variables)

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
        self.assertRegex(said, r"kiln layer: refused cl-\w{32}: no pack has it \(KILN_REQUIRE=exact\)")
        self.assertIn(f"kiln record -o app.spool -- {APPLICATION} source:", said)

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
        self.assertEqual(done.output, "refused\n-2 Kiln compiles nothing here: no pack has it "
                         "(KILN_REQUIRE=exact)\n\n")

    def test_parts_and_links_are_refused(self):
        """clCompileProgram fails, unless the pack has what is linked of it."""
        header = self.place / "steps.h"
        header.write_text("#define VALUE 5\n", encoding="utf-8")
        parts = (f"cd:{self.place}", "compile:-I .", "link", "launch:1")
        done = self.gate("exact", self.pack, APPLICATION, *parts)
        self.assertEqual((done.code, done.output), (1, "clCompileProgram: -15\n"), done.error)
        spool, base, pack = (str(self.place / name) for name in
                             ("parts.spool", "parts.base.kiln", "parts.kiln"))
        must("record", "--layer", LAYER, "-o", spool, "--", APPLICATION, *parts)
        must("compile", spool, "-o", base)
        must("build", base, "--store", "none", "-o", pack)
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
        done = run(KILN, "serve", "--layer", LAYER, "--pack", self.pack, "--require", "exact",
                   "--print-env", "sh")
        self.assertIn("export KILN_REQUIRE='exact'", done.output)


if __name__ == "__main__":
    with PLACE:
        unittest.main(argv=sys.argv[:1] + sys.argv[4:])

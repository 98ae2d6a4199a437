#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A skip says so by its exit code, and a failing test never looks skipped.

    skips_test.py KILN_SKIPS CMAKE
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE / "cmake_test.sh"
STEPS = pathlib.Path(__file__).parents[1] / "runtime" / "build_steps.cmake"
PROGRAM, CMAKE = sys.argv[1:3]


def code(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode


class Skips(unittest.TestCase):
    def test_of_catch(self):
        for cases, expected in (("[pass]", 0), ("[skip]", 77), ("[fail]", 1), ("[often]", 1),
                                ("[without]", 77), ("[pass],[skip]", 77), ("[skip],[fail]", 1),
                                ("[fail],[skip]", 1), ("[fail],[without]", 1), ("no such case", 2)):
            self.assertEqual(code(PROGRAM, cases), expected, cases)

    def script(self, text):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "a.cmake"
            file.write_text(f"include({STEPS})\n{text}\n", encoding="utf-8")
            return code("sh", str(SCRIPT), CMAKE, "-P", str(file))

    def test_of_scripts_of_cmake(self):
        self.assertEqual(self.script("message(hello)"), 0)
        self.assertEqual(self.script('skip("a reason")\nreturn()'), 77)
        self.assertEqual(self.script('skip("a reason")\nmessage(FATAL_ERROR no)'), 1)
        self.assertEqual(self.script("message(FATAL_ERROR no)"), 1)

    def test_of_cases_of_python(self):
        """unittest's own end says 0 of a script whose case was skipped."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "a.py"
            for body, expected in (("pass", 0), ("self.skipTest('a reason')", 77), ("self.fail()", 1)):
                file.write_text(f"import sys, unittest\nsys.path.append({str(HERE)!r})\nimport skips\n"
                                f"class A(unittest.TestCase):\n    def test_a(self): {body}\n"
                                "skips.run_cases()\n", encoding="utf-8")
                self.assertEqual(code(sys.executable, "-B", str(file)), expected, body)
        silent = [path.name for path in HERE.parent.rglob("*_test.py") if path.name != "skips_test.py"
                  if re.search(r"skipTest|skipUnless|skipIf|SkipTest", path.read_text(encoding="utf-8"))
                  and "unittest.main(" in path.read_text(encoding="utf-8")]
        self.assertEqual(silent, [], "these end by unittest.main(), not by skips.run_cases()")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

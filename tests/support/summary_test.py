#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of summary.py, by a small project of each kind of outcome: summary_test.py CMAKE CTEST"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SUMMARY = pathlib.Path(__file__).with_name("summary.py")
CMAKE, CTEST = sys.argv[1:3]
FILES = {"CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.22)
project(outcomes NONE)
enable_testing()
include(test.cmake)
add_subdirectory(first)
add_subdirectory(second)
""", "test.cmake": """\
function(test name script)
  add_test(NAME ${name} COMMAND sh -c "${script}")
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()
""", "first/CMakeLists.txt": """\
test(passes "true")
test(is_skipped "echo SKIP: a reason && exit 77")
test(warns "echo WARNING: nearly too large")
""", "second/CMakeLists.txt": """\
test(says_skip "echo SKIP: no reason && exit 1")
add_test(NAME is_missing COMMAND /nonexistent/program)
test(api_reference "echo SKIP: no program && exit 77")
"""}


class Summary(unittest.TestCase):
    def summary(self, tests, *options):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in FILES.items():
                pathlib.Path(folder, name).parent.mkdir(exist_ok=True)
                pathlib.Path(folder, name).write_text(text, encoding="utf-8")
            build = pathlib.Path(folder, "b")
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
            subprocess.run([CMAKE, "-G", "Ninja", "-S", folder, "-B", str(build)], **quiet)
            subprocess.run([CTEST, "--test-dir", str(build), "-R", tests, "--output-junit",
                            "tests/results/some.xml"], **quiet)
            tools = pathlib.Path(folder, "tools")
            tools.mkdir()
            tools.joinpath("dpkg-query").write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
            tools.joinpath("dpkg-query").chmod(0o755)
            done = subprocess.run([sys.executable, "-B", str(SUMMARY), *options, str(build)],
                                  stdout=subprocess.PIPE, text=True, check=False,
                                  env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
        rows = [" ".join(line.split()) for line in done.stdout.splitlines()]
        return done.returncode, rows

    def test_each_outcome_counts_by_its_exit_code(self):
        code, rows = self.summary(".")
        self.assertEqual(code, 1)
        self.assertTrue(any(row.startswith("b first 3 2 0 1 ") for row in rows), rows)
        self.assertTrue(any(row.startswith("b second 3 0 1 2 ") for row in rows), rows)
        self.assertIn("b: is_skipped skipped: SKIP: a reason", rows)
        self.assertIn("b: says_skip failed", rows)
        self.assertIn("b: warns passed: WARNING: nearly too large", rows)
        self.assertTrue(any(row.startswith("b: is_missing skipped: ") for row in rows), rows)

    def test_a_skip_fails_unless_it_is_allowed(self):
        self.assertEqual(self.summary("is_skipped|passes")[0], 1)
        self.assertEqual(self.summary("is_skipped|passes", "--allow-skips")[0], 0)
        self.assertEqual(self.summary("says_skip", "--allow-skips")[0], 1)
        self.assertEqual(self.summary("passes")[0], 0)
        self.assertEqual(self.summary("no such test", "--allow-skips")[0], 1)

    def test_the_last_line_says_what_is_missing(self):
        """A tool that says that no package is installed, as on a machine that has none."""
        self.assertEqual(self.summary("passes|is_skipped|says_skip|api_reference")[1][-1],
                         "failed: says_skip; skipped: is_skipped (a reason), "
                         "api_reference (no program; install doxygen)")
        self.assertIn(" minutes", self.summary("passes")[1][0])
        self.assertEqual(len(self.summary("passes")[1]), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

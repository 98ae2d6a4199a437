#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the runner itself: a case that should fail must fail."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

import run_cases
from damage import damage
from matching import fit, matches

ECHO = "$ kiln -c \"{}\"\n"  # the executable is Python


class RunCases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.case = pathlib.Path(folder.name) / "a.case"

    def run_case(self, text, *options):
        self.case.write_text(text, encoding="utf-8")
        seen = io.StringIO()
        with contextlib.redirect_stdout(seen):
            code = run_cases.main(["--kiln", sys.executable, *options, str(self.case)])
        return code, seen.getvalue()

    def test_a_case_that_holds_passes(self):
        self.assertEqual(self.run_case(ECHO.format("print(1)") + "> 1\n")[0], 0)

    def test_wrong_output_fails_with_a_diff(self):
        code, seen = self.run_case(ECHO.format("print(1)") + "> 2\n")
        self.assertEqual(code, 1)
        self.assertIn("-> 2\n+> 1\n", seen)

    def test_unexpected_errors_and_exit_codes_fail(self):
        self.assertEqual(self.run_case(ECHO.format("import sys; sys.exit('no')"))[0], 1)
        self.assertEqual(self.run_case(ECHO.format("import sys; sys.exit(3)"))[0], 1)
        self.assertEqual(self.run_case(ECHO.format("print(1)") + "> 1\nexit 3\n")[0], 1)

    def test_update_writes_what_was_seen_and_keeps_placeholders(self):
        text = ECHO.format("print('a 1'); print('b')")
        code, _ = self.run_case(text + "> a [*]\n> c\n", "--update")
        self.assertEqual(code, 0)
        self.assertEqual(self.case.read_text(encoding="utf-8"), text + "> a [*]\n> b\n")

    def test_output_of_json_must_have_a_schema(self):
        code, seen = self.run_case("$ kiln -c \"print('{}')\" --json\n> {}\n")
        self.assertEqual(code, 1)
        self.assertIn("schema is None", seen)

    def test_a_broken_case_fails(self):
        for text in ("> no command\n", "file a\nno end\n", "nonsense a\n", "$ \"open\n"):
            self.assertEqual(self.run_case(text)[0], 1, text)

    def test_what_cannot_run_is_a_skip_beside_passes_and_none_beside_failures(self):
        code, seen = self.run_case("needs no-such-program\n")
        self.assertEqual(code, run_cases.EXIT_SKIPPED)
        self.assertIn("no-such-program is not in PATH", seen)
        other = self.case.with_name("b.case")
        other.write_text(ECHO.format("print(1)") + "> 1\n", encoding="utf-8")
        self.assertEqual(self.run_case("needs no-such-program\n", str(other))[0], 77)
        other.write_text(ECHO.format("print(1)") + "> 2\n", encoding="utf-8")
        self.assertEqual(self.run_case("needs no-such-program\n", str(other))[0], 1)

    def test_a_plain_user_runs_where_permissions_matter(self):
        code, seen = self.run_case("needs user\nfolder closed 555\n$ touch closed/a\n"
                                   "! touch: cannot touch 'closed/a': Permission denied\nexit 1\n")
        self.assertEqual(code, 0, seen)


class Matching(unittest.TestCase):
    def test_placeholders(self):
        self.assertTrue(matches(["a [*] c"], "a b c\n"))
        self.assertFalse(matches(["a [*] c"], "a b\nc\n"))
        self.assertTrue(matches(["a", "[...]", "z"], "a\nb\nc\nz\n"))
        self.assertTrue(matches(["a", "[...]", "z"], "a\nz\n"))
        self.assertFalse(matches(["a.c"], "abc\n"))

    def test_text_without_a_last_line_end_fits(self):
        self.assertEqual(fit(["a"], "a"), ["a"])


class Damage(unittest.TestCase):
    def test_changes(self):
        self.assertEqual(damage(b"abc", ["cut:2"]), b"ab")
        self.assertEqual(damage(b"abc", ["flip:-1"]), b"ab\x9c")
        self.assertEqual(damage(b"abc", ["set:1=3132", "append:33"]), b"a123")
        with self.assertRaises(ValueError):
            damage(b"abc", ["bend:1"])


if __name__ == "__main__":
    unittest.main()

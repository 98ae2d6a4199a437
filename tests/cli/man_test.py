#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page and the completions that cmake/man.py makes of what kiln --help prints.

    man_test.py KILN

Exit codes: 0 right, 1 wrong, 77 there is no groff to check the page with.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MAN = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "man.py"
KILN = sys.argv[1]
GOLDEN = str(MAN.parents[1] / "packs" / "golden" / "good-v1-final.kiln")


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options).stdout


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.page = pathlib.Path(cls.folder.name, "kiln.1")
        cls.completion = pathlib.Path(cls.folder.name, "kiln.bash")
        subprocess.run([sys.executable, str(MAN), KILN, cls.folder.name], check=True)
        # From what misuse says, which does not come through the reading of the help.
        expected = re.search(r"expected one of: (.*)", run(KILN))
        cls.commands = expected[1].split(", ")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def complete(self, *words):
        """What Bash offers for the last of the words."""
        script = ('. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kiln; '
                  'echo "${COMPREPLY[@]}"')
        return run("bash", "-c", script, "bash", str(self.completion), "kiln", *words,
                   env=self.variables()).split()

    def test_groff_has_nothing_to_say(self):
        self.assertEqual(run("groff", "-ww", "-z", "-man", str(self.page)), "")

    def test_the_page_has_every_command_and_every_option(self):
        text = self.page.read_text(encoding="utf-8").replace("\\-", "-")
        for command in self.commands:
            self.assertIn(f"\n.SH {command.upper()}\n", text)
            for option in re.findall(r"(?<![\w-])--[a-z-]+", run(KILN, command, "--help")):
                self.assertIn(option, text)

    def test_the_completion_lists_every_command_and_every_option(self):
        self.assertEqual([c for c in self.commands if c not in self.complete("")], [])
        for command in self.commands:
            offered = self.complete(command, "--")
            options = re.findall(r"^ {2}(?:-\w, )?(--[a-z-]+)", run(KILN, command, "--help"),
                                 re.MULTILINE)
            self.assertEqual([option for option in options if option not in offered], [])

    def test_the_completion_leaves_files_to_bash(self):
        self.assertEqual(self.complete("build", "man"), [])
        self.assertEqual(self.complete("pack", "sl"), ["slice"])

    def test_the_completion_offers_values(self):
        self.assertEqual(self.complete("pack", "slice", "--compress", "f"), ["fleet"])
        self.assertEqual(self.complete("provision", GOLDEN, "--program", "b"), ["blur"])
        self.assertEqual(self.complete("build", "--store", ""), [])

    def offered_by_zsh(self, *words):
        script = (f'compdef() {{ :; }}; compadd() {{ shift; print -l -- "$@"; }}; _files() {{ :; }}; '
                  f'. {self.folder.name}/kiln.zsh; words=("$@"); CURRENT=$#; _kiln')
        return run("zsh", "-f", "-c", script, "zsh", "kiln", *words, env=self.variables()).split("\n")

    def offered_by_fish(self, line):
        script = f"source {self.folder.name}/kiln.fish; complete -C '{line}'"
        return [one.split("\t")[0] for one in
                run("fish", "--no-config", "-c", script, env=self.variables()).split("\n")]

    def variables(self):
        return {**os.environ, "PATH": f"{pathlib.Path(KILN).parent}:{os.environ['PATH']}"}

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_zsh(self):
        self.assertTrue(set(self.commands) <= set(self.offered_by_zsh("")))
        self.assertIn("--inventory", self.offered_by_zsh("pack", "slice", "--"))
        self.assertIn("archive", self.offered_by_zsh("pack", "slice", "--compress", ""))
        self.assertIn("blur", self.offered_by_zsh("provision", GOLDEN, "--program", ""))

    @unittest.skipUnless(shutil.which("fish"), "no fish here")
    def test_fish(self):
        self.assertTrue(set(self.commands) <= set(self.offered_by_fish("kiln ")))
        self.assertIn("--inventory", self.offered_by_fish("kiln pack slice --"))
        self.assertIn("archive", self.offered_by_fish("kiln pack slice --compress "))
        self.assertIn("blur", self.offered_by_fish(f"kiln provision {GOLDEN} --program "))


if __name__ == "__main__":
    if shutil.which("groff") is None:
        print("SKIP: no groff here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

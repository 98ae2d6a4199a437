#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual pages that cmake/man.sh makes of what kiln --help prints.

    man_test.py KILN

Exit codes: 0 right, 1 wrong, 77 there is no help2man to make them or no groff to check them.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MAN = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "man.sh"
KILN = sys.argv[1]


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False).stdout


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        subprocess.run(["sh", MAN, KILN, cls.folder.name], check=True)
        cls.pages = sorted(pathlib.Path(cls.folder.name).iterdir())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_groff_has_nothing_to_say(self):
        for page in self.pages:
            self.assertEqual(run("groff", "-ww", "-z", "-man", page), "")

    def test_each_command_has_a_page_and_each_option_is_in_it(self):
        # From what misuse says, which does not come through the reading of the help.
        for words in ((), ("pack",), ("overlay",)):
            expected = re.search(r"expected one of: (.*)", run(KILN, *words))
            for command in expected[1].split(", "):
                page = pathlib.Path(self.folder.name, "-".join(("kiln", *words, command)) + ".1")
                text = page.read_text(encoding="utf-8").replace("\\-", "-")
                for option in re.findall(r"(?<![\w-])--[a-z-]+", run(KILN, *words, command, "--help")):
                    self.assertIn(option, text)

    def test_the_first_page_has_what_help_does_not_tell(self):
        text = pathlib.Path(self.folder.name, "kiln.1").read_text(encoding="utf-8")
        for section in ("ENVIRONMENT", "FILES", "EXAMPLES"):
            self.assertIn(f"\n.SH {section}\n", text)


if __name__ == "__main__":
    if shutil.which("groff") is None or shutil.which("help2man") is None:
        print("SKIP: no groff or no help2man here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

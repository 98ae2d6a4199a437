# SPDX-License-Identifier: Apache-2.0
"""How a script of Python's unittest ends: unittest's own end counts a skipped case as passed."""

import sys
import unittest


def run_cases(arguments=()):
    """Runs the script's cases, or those that the arguments name; ends it with 0, 1 if one failed, or 77
    with the reasons if one was skipped."""
    result = unittest.main(argv=[sys.argv[0], *arguments], exit=False).result
    for reason in dict.fromkeys(reason for _, reason in result.skipped):
        print(f"SKIP: {reason}")
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)

# SPDX-License-Identifier: Apache-2.0
"""Compares lines with expectations that may hold placeholders.

`[*]` within an expected line stands for any text of that line; an expected line that is
`[...]` alone stands for any number of lines.
"""

import difflib
import re

ANY_TEXT = "[*]"
ANY_LINES = "[...]"


def pattern_of(line):
    if line == ANY_LINES:
        return r"(?:[^\n]*\n)*?"
    return "[^\n]*".join(re.escape(part) for part in line.split(ANY_TEXT)) + "\n"


def matches(expected, text):
    """Whether the whole text is as the expected lines say."""
    return re.fullmatch("".join(map(pattern_of, expected)), text) is not None


def fit(expected, text):
    """The expected lines when they match, else the text's lines, each as the expected line
    with placeholders that fits it, taken in order."""
    if text and not text.endswith("\n"):
        text += "\n"
    if matches(expected, text):
        return expected
    lines = []
    placed = [line for line in expected if ANY_TEXT in line]
    for line in text.splitlines():
        found = next((p for p in placed if matches([p], line + "\n")), None)
        if found is not None:
            del placed[: placed.index(found) + 1]
        lines.append(line if found is None else found)
    return lines


def unified_diff(expected, actual, name):
    return "".join(
        difflib.unified_diff(
            expected.splitlines(True), actual.splitlines(True), name, f"{name} (seen)"
        )
    )

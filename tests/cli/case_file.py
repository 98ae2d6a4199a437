# SPDX-License-Identifier: Apache-2.0
"""Reads and writes case files; README.md describes them."""

import dataclasses
import shlex

from matching import fit


class CaseError(Exception):
    """A case file that breaks a rule, or a directive that cannot be carried out."""


@dataclasses.dataclass
class Step:
    """A directive or a command, with what is expected of a command."""

    lines: list  # as they stand in the file, without what is expected
    words: list  # of the directive, or of the command behind "$"
    is_command: bool = False
    body: str = ""  # of a `file` directive
    out: list = dataclasses.field(default_factory=list)
    err: list = dataclasses.field(default_factory=list)
    code: int = 0


@dataclasses.dataclass
class Result:
    """What a command did."""

    out: str
    err: str
    code: int
    faults: list = dataclasses.field(default_factory=list)  # beyond a wrong expectation


def split(text, where):
    try:
        return shlex.split(text)
    except ValueError as error:
        raise CaseError(f"{where}: {error}") from error


def read_body(lines, step, where):
    """Takes the lines of a `file` block up to its `end` off `lines`."""
    body = []
    for number, line in lines:
        step.lines.append(line)
        if line == "end":
            step.body = "".join(text + "\n" for text in body)
            return
        body.append(line)
    raise CaseError(f"{where}: the file block has no end")


def expect(step, line, where):
    """Adds a line of what is expected to the command before it."""
    if step is None or not step.is_command:
        raise CaseError(f"{where}: no command stands before this line")
    if line.startswith("exit "):
        step.code = int(line.split()[1])
    else:
        (step.out if line[0] == ">" else step.err).append(line[2:])


def parse(text, name):
    """The steps of a case file; blank lines and comments are steps without words."""
    steps = []
    lines = enumerate(text.splitlines(), 1)
    for number, line in lines:
        where = f"{name}:{number}"
        if line.startswith(">") or line.startswith("!") or line.startswith("exit "):
            expect(steps[-1] if steps else None, line, where)
        elif not line.strip() or line.startswith("#"):
            steps.append(Step([line], []))
        elif line.startswith("$ "):
            steps.append(Step([line], split(line[2:], where), is_command=True))
        else:
            steps.append(Step([line], split(line, where)))
            if steps[-1].words[0] == "file":
                read_body(lines, steps[-1], where)
    return steps


def expectation(step, result):
    """The lines that say what `result` is, with the placeholders of `step` where they fit."""
    lines = [f"> {text}".rstrip() if not text else f"> {text}" for text in fit(step.out, result.out)]
    lines += [f"! {text}".rstrip() if not text else f"! {text}" for text in fit(step.err, result.err)]
    return lines + ([f"exit {result.code}"] if result.code else [])


def render(steps, results):
    """The text of the case file that expects `results`, one for each command in turn."""
    lines = []
    remaining = iter(results)
    for step in steps:
        lines += step.lines
        if step.is_command:
            lines += expectation(step, next(remaining))
    return "".join(line + "\n" for line in lines)

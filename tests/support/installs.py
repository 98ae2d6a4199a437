#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what tests and commands need, tests/packages.txt, against what bootstrap.sh installs, without
installing or running: each row against the list of each command that needs the package, each name
against ctest's tests, and each word against the sources. Then takes each entry out of the lists in
turn, which must be found.

    installs.py BUILD
"""

import fnmatch
import json
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests" / "packages.txt"
BOOTSTRAP = ROOT / "bootstrap.sh"
# Which commands run the tests of a label, where that is not the group of its name.
COMMANDS = {"quick": ("test", "check clang", "check sanitizers"), "test": ("test",), "lab": ("lab",)}


@dataclass(frozen=True)
class Row:
    """A package, a word of what uses it, and who needs it."""

    package: str
    word: str
    tests: tuple  # patterns
    commands: tuple


def read_table():
    """The rows of packages.txt."""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            package, word, *users = line.split()
            yield Row(package, word, tuple(user for user in users if user[0] != "@"),
                      tuple(user[1:] for user in users if user[0] == "@"))


def needed_by(test):
    """The packages that a test needs."""
    return [row.package for row in read_table()
            if any(fnmatch.fnmatch(test, pattern) for pattern in row.tests)]


def is_installed(package):
    """By dpkg; of clang and llvm-spirv any version."""
    versions = "-*" if package in ("clang", "llvm-spirv") else ""
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${Status}\n", package + versions], check=False,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return "install ok installed" in shown


def lists_of(script):
    """The packages of each command of bootstrap.sh, given the script's text."""
    shown = subprocess.run(["bash", "-s", "packages"], input=script, cwd=ROOT, check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    return {name: set(packages.split())
            for name, packages in (line.split(":", 1) for line in shown.splitlines())}


def labels_of(build):
    """The label of each test that the build knows."""
    shown = json.loads(subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                                      stdout=subprocess.PIPE, check=True).stdout)
    return {test["name"]: next(one["value"][0] for one in test["properties"] if one["name"] == "LABELS")
            for test in shown["tests"]}


def wants(rows, labels, commands):
    """(command, package, who) of all that must be installed; who is a test or the command."""
    for row in rows:
        for name in row.commands:
            for command in commands:
                if (name == command.split(" ")[-1] or name == command.split(" ")[0]
                        or (name == "all" and command != "fresh")):
                    yield command, row.package, command
        for test, label in labels.items():
            if any(fnmatch.fnmatch(test, pattern) for pattern in row.tests):
                for command in COMMANDS.get(label, (f"check {label}",)):
                    yield command, row.package, test


def missing(wanted, lists):
    """A sentence for each need that a list does not meet."""
    return [f"{who} needs {package}, which ./bootstrap.sh {command} does not install"
            for command, package, who in wanted if package not in lists[command]]


def entries(script):
    """(package, the script without this entry) for each entry of each list."""
    begin = script.index("\ntools=")
    end = script.index("\n}", script.index("\npackages_of()"))
    end = script.index("\n}", script.index("\npackages_for()", end))
    for row in read_table():
        entry = rf"(?<![\w.+$-])(?:[\w+-]+:)?{re.escape(row.package)}(?![\w.+:)-])"
        for found in re.finditer(entry, script[begin:end]):
            line = script[script.rfind("\n", 0, begin + found.start()) + 1:begin + found.start()]
            if "#" not in line:
                yield row.package, script[:begin + found.start()] + script[begin + found.end():]


def faults_of(rows, labels, script):
    """Where the table, the lists, the tests and the sources differ, as sentences."""
    lists = lists_of(script)
    faults = missing(set(wants(rows, labels, lists)), lists)
    known = {row.package for row in rows}
    faults += [f"{TABLE.name} has no row for {package}, which ./bootstrap.sh {command} installs"
               for command, packages in lists.items() for package in sorted(packages - known)
               if not package.startswith("libclang-rt-")]  # of the version of the Clang that is here
    for row in rows:
        for pattern in row.tests:
            if "*" not in pattern and pattern not in labels:
                faults.append(f"{row.package}: there is no test {pattern}")
        found = subprocess.run(["git", "grep", "-lFe", row.word, "--", ":!bootstrap.sh",
                                f":!tests/{TABLE.name}"], cwd=ROOT, check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if found.returncode == 1:
            faults.append(f"{row.package}: nothing says {row.word}")
    return faults


def main():
    rows = list(read_table())
    labels = labels_of(sys.argv[1])
    script = BOOTSTRAP.read_text(encoding="utf-8")
    faults = faults_of(rows, labels, script)
    count = 0
    for package, shorter in entries(script):
        lists = lists_of(shorter)
        count += 1
        if not missing(wants(rows, labels, lists), lists):
            faults.append(f"a list of bootstrap.sh does not need {package}: nothing fails without it")
    print(f"{len(rows)} packages, {count} entries of lists, {len(faults)} faults")
    print("\n".join(faults))
    return 1 if faults or count < len(rows) else 0


if __name__ == "__main__":
    sys.exit(main())

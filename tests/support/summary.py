#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One table of what ctest ran, from its own records and never from what tests print: a row for each
folder of tests. Below it what did not pass, and the lines of passed tests that begin with WARNING. The
last line names what failed, and what was skipped, why, and the packages that are missing.

    summary.py [--allow-skips] BUILD...

Of each build folder it reads the results that lie in tests/results/*.xml (ctest --output-junit)
and asks ctest which file added a test. Exit codes: 0; 1 when a test failed or, without --allow-skips,
was skipped or not run, or when a folder has no results.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import installs

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


def groups_of(build):
    """The folder whose CMakeLists.txt added each test of the build."""
    shown = json.loads(subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                                      stdout=subprocess.PIPE, check=True).stdout)
    files, nodes = (shown["backtraceGraph"][name] for name in ("files", "nodes"))
    groups = {}
    for test in shown["tests"]:
        node = nodes[test["backtrace"]]
        while not files[node["file"]].endswith("/CMakeLists.txt"):  # a function of cmake/
            node = nodes[node["parent"]]
        groups[test["name"]] = pathlib.Path(files[node["file"]]).parent.name
    return groups


def outcome_of(case):
    """ctest's word for a test: run, fail, notrun (skipped, or its program is missing)."""
    status = case.get("status")
    if status == "run" and case.find("failure") is None:
        return PASSED
    return FAILED if status in ("run", "fail") else SKIPPED


def lines_of(case, word):
    """The lines of a test's output that begin with the word."""
    output = case.findtext("system-out") or ""
    return [line.strip() for line in output.splitlines() if line.startswith(word)]


def reason_of(case):
    """For people: the lines of a skipped test's output that say why."""
    said = lines_of(case, "SKIP")
    skipped = case.find("skipped")
    return "; ".join(dict.fromkeys(said)) or (skipped.get("message", "") if skipped is not None
                                              else "not run")


def read(build):
    """(group, name, outcome, seconds, reason or warnings) of each test that ctest has a record of."""
    groups = groups_of(build)
    for file in sorted((build / "tests" / "results").glob("*.xml")):
        for case in ElementTree.parse(file).getroot().iter("testcase"):
            outcome = outcome_of(case)
            said = reason_of(case) if outcome == SKIPPED else "; ".join(lines_of(case, "WARNING"))
            yield (groups.get(case.get("name"), "-"), case.get("name"), outcome,
                   float(case.get("time", 0)), said)


def verdict(rows):
    """What did not pass, in one line; nothing if all passed."""
    failed, skipped = [], []
    for (build, _), tests in sorted(rows.items()):
        if not tests:
            failed.append(f"{build} has no results")
        for name, outcome, _, said in tests:
            if outcome == FAILED:
                failed.append(name)
            elif outcome == SKIPPED:
                lacks = [one for one in installs.needed_by(name) if not installs.is_installed(one)]
                reason = said.replace("SKIP: ", "")
                skipped.append(f"{name} ({reason}{'; install ' if lacks else ''}{' '.join(lacks)})")
    return "; ".join(f"{word}: {', '.join(names)}"
                     for word, names in ((FAILED, failed), (SKIPPED, skipped)) if names)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--allow-skips", action="store_true", help="a skipped test is no failure")
    parser.add_argument("builds", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    rows = collections.defaultdict(list)
    for build in options.builds:
        tests = list(read(build))
        if not tests:
            rows[build.name, "(no results)"] = []
        for group, *test in tests:
            rows[build.name, group].append(test)
    print(f"{'build':<12} {'group':<12} {'tests':>6} {PASSED:>7} {FAILED:>7} {SKIPPED:>8} "
          f"{'minutes':>8}")
    shown = []
    for (build, group), tests in sorted(rows.items()):
        counts = collections.Counter(outcome for _, outcome, _, _ in tests)
        minutes = sum(time for _, _, time, _ in tests) / 60
        print(f"{build:<12} {group:<12} {len(tests):6} {counts[PASSED]:7} {counts[FAILED]:7} "
              f"{counts[SKIPPED]:8} {minutes:8.1f}")
        shown += [f"{build}: {name} {outcome}" + (f": {said}" if said else "")
                  for name, outcome, _, said in tests if said or outcome != PASSED]
    for line in shown:
        print(line)
    line = verdict(rows)
    if line:
        print(line)
    outcomes = {outcome for tests in rows.values() for _, outcome, _, _ in tests}
    bad = {FAILED} if options.allow_skips else {FAILED, SKIPPED}
    return 1 if outcomes & bad or not all(rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

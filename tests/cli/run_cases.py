#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of the command line: scripts with the exit code, output and errors expected.

    run_cases.py --kiln PATH [--update] [--device-cases] [--jobs N] CASE|FOLDER...

README.md describes the case files. Exit codes: 0 all passed, 1 some failed, 2 usage,
77 none failed and some could not run.
"""

import argparse
import concurrent.futures
import os
import pathlib
import sys
import tempfile

from case_file import CaseError, parse, render
from case_runner import Settings, Skip, run_case
from matching import unified_diff

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
EXIT_SKIPPED = 77


def find_cases(paths, with_devices):
    """The case files that `paths` name; a folder stands for its cases without a device, or
    for those with one. A file that is named is always taken."""
    found = []
    for path in map(pathlib.Path, paths):
        if path.is_dir():
            cases = sorted(path.glob("*.case"))
            found += [c for c in cases if c.name.startswith("device_") == with_devices]
        else:
            found.append(path)
    return found


def check(path, settings, update):
    """Runs one case file; the outcome and what there is to print."""
    text = path.read_text(encoding="utf-8")
    try:
        case = parse(text, str(path))
        with tempfile.TemporaryDirectory(prefix="kiln-case-") as folder:
            actual = run_case(case, settings, pathlib.Path(folder))
    except Skip as skip:
        return SKIPPED, str(skip)
    except (CaseError, OSError) as error:
        return FAILED, str(error)
    rendered = render(case, actual)
    faults = "".join(f"{path}: {fault}\n" for result in actual for fault in result.faults)
    if rendered == text:
        return (FAILED, faults) if faults else (PASSED, "")
    if not update:
        return FAILED, unified_diff(text, rendered, str(path)) + faults
    path.write_text(rendered, encoding="utf-8")
    return (FAILED, faults) if faults else (PASSED, "updated")


def run_all(cases, settings, options):
    """Runs the cases side by side, reports each in order; how many had which outcome."""
    counts = {PASSED: 0, FAILED: 0, SKIPPED: 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = pool.map(lambda case: check(case, settings, options.update), cases)
        for case, (outcome, text) in zip(cases, work):
            counts[outcome] += 1
            if outcome == PASSED and not text:
                continue
            word = {PASSED: "ok", FAILED: "FAIL", SKIPPED: "SKIP"}[outcome]
            print(f"{word} {case.name}" + (f": {text}" if outcome != FAILED else f"\n{text}"))
    return counts


def parse_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kiln", required=True, type=pathlib.Path, help="the executable")
    parser.add_argument("--update", action="store_true", help="write what was seen into the cases")
    parser.add_argument("--device-cases", action="store_true",
                        help="of a folder run device_*.case instead of the others")
    parser.add_argument("--pocl-icd", type=pathlib.Path,
                        default=pathlib.Path("/etc/OpenCL/vendors/pocl.icd"),
                        help="the .icd file of PoCL, for the cases with a device")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("cases", nargs="+", help="case files or folders")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse_options(arguments)
    if not os.access(options.kiln, os.X_OK):
        print(f"{options.kiln} cannot be run", file=sys.stderr)
        return 2
    cases = find_cases(options.cases, options.device_cases)
    settings = Settings(kiln=options.kiln.resolve(), pocl_icd=options.pocl_icd)
    counts = run_all(cases, settings, options)
    print(f"{len(cases)} cases: " + ", ".join(f"{n} {outcome}" for outcome, n in counts.items()))
    if counts[FAILED]:
        return 1
    return EXIT_SKIPPED if counts[SKIPPED] or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

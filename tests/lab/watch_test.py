#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Driver updated, nothing compiled: a pack made under an old driver, `kiln fleet watch` under the new one,
and then a start of an application, which loads every program exactly and compiles nothing.

On PoCL each program is launched in fresh processes whose caches are looked at, on rusticl with the
cache that `kiln fleet watch` filled. Intel's driver executes nothing here: its binaries are loaded. Exits with 0, with 1 if a scenario failed, and with 77 when no driver is there.
"""

import argparse
import os
import shutil
import sys
import time
from pathlib import Path

import registry
from fleet import Fleet
from suite import Suite, expect

EXIT_SKIPPED = 77
UPDATES = (("pocl-6.0", "pocl-7.1"), ("rusticl-25.0", "rusticl-26.2"),
           ("neo-22.43-skl", "neo-24.35-skl"))
PROGRAM, VARIANTS = "laplace", ("scalar", "vec4_short")
WATCH = ("fleet", "watch", "--state", "state", "--pack", "app.kiln", "--folder", "mesa", "--full-speed",
         "--json")
SERVED = {"MESA_SHADER_CACHE_DIR": "mesa", "MESA_DISK_CACHE_SINGLE_FILE": "1",
          "MESA_DISK_CACHE_READ_ONLY_FOZ_DBS": "kiln"}
EMPTY = 64  # bytes of a database without entries


def watch(station):
    """The report; nothing may be missing."""
    report = station.kiln(*WATCH).expect_code(0, "kiln fleet watch").json()
    expect(report["missing"] == 0, f"missing: {report}")
    return report


def update(fleet, base, old, new):
    """Under the old driver, then the same folder under the new one."""
    fleet.open_station(old)
    fleet.open_station(new)
    before, after = fleet.need(old), fleet.need(new)
    before.bring(base, "app.kiln")
    expect(watch(before)["devices"][0]["outcome"] == "built", "the old driver has no binaries")
    (before.folder / "mesa").mkdir(exist_ok=True)
    for name in ("state", "mesa"):
        shutil.copytree(before.folder / name, after.folder / name)
    after.bring(before.folder / "app.kiln")
    for variant in VARIANTS:
        rung = after.explain("app.kiln", PROGRAM, variant)["rung"]
        expect(rung != "exact", "the update changes nothing")
    start = time.monotonic()
    report = watch(after)
    seconds = time.monotonic() - start
    expect(report["devices"][0]["outcome"] == "built" and report["written"], f"{report}")
    for variant in VARIANTS:
        seen = after.explain("app.kiln", PROGRAM, variant)
        expect((seen["rung"], seen["recompiled"]) == ("exact", False), f"{variant}: {seen}")
    left = report["devices"][0]["not_final"]
    expect(not left or not after.device["executes"], f"not final: {left}")
    if after.device["driver"] == "rusticl":
        reads_mesas_cache(after)
    elif after.device["executes"]:
        compiles_nothing(after)
    start = time.monotonic()
    expect(not watch(after)["changed"], "the second run found something to do")
    return f"update to served {seconds:.1f} s; then {time.monotonic() - start:.2f} s, with the root"


def compiles_nothing(station):
    """By growing caches in fresh processes."""
    row = station.startup("app.kiln")
    expect(row["compile_at_first_launch"] == 0, f"compiled: {row['first_results']}")


def reads_mesas_cache(station):
    """Launches with the folder that kiln fleet watch filled: Mesa adds nothing to it."""
    def files():
        return {path: path.stat().st_size for path in (station.folder / "mesa").rglob("*.foz")
                if "rusticl" not in path.parts}

    filled = files()
    done = station.kiln("provision", "app.kiln", "--folder", "none-here", "--launch", "--device",
                        station.device["select"], settings=SERVED)
    done.expect_code(0, "kiln provision --launch")
    grown = {str(path): size for path, size in files().items()
             if size > max(filled.get(path, 0), EMPTY)}
    expect(filled and not grown, f"Mesa compiled into {grown}")


def main():
    """Each update; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kiln", type=Path, required=True)
    parser.add_argument("--manifest", type=Path, required=True, help="of the tour")
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    if os.environ.get("KILN_LAB_OPTIONAL") == "1" and not any(map(registry.completed,
                                                                  registry.suites())):
        print("SKIP  the laboratory is not fetched")
        return EXIT_SKIPPED
    fleet = Fleet(options.kiln.absolute(), None, options.work.absolute())
    base = fleet.work / "base.kiln"
    for words in (("compile", options.manifest.absolute(), "-o", "tour.kiln"),
                  ("pack", "slice", "tour.kiln", "--program", PROGRAM, "-o", base)):
        fleet.host(*words).expect_code(0, f"kiln {words[0]}")
    suite = Suite(1)
    for old, new in UPDATES:
        suite.check(f"{old} is updated to {new}, kiln fleet watch runs, and no start compiles anything",
                    update, fleet, base, old, new)
    suite.summarise()
    return 1 if suite.failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One start-up table over several devices of the laboratory.

    startup_table.py --tool KILN_STARTUP --pack PACK [--rounds N] [DEVICE...]

Each device measures itself with kiln_startup; this prints the rows together: the times to the first
results, then those to the kernels.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "lab"))

import registry  # noqa: E402

LAB = TESTS / "lab" / "lab.py"
WAYS = ("source", "driver", "floor", "kiln", "overlay")
MOST_NAMED = 6  # programs of one device that compile at their first launch
NOTES = """\
source: the driver compiles the source. driver: it is given its own binaries, as they are before
any launch. floor: it is given the pack's, from memory. kiln: the pack is opened, the device
identified, every binary found, checked and loaded. overlay: the second start of an application
whose pack has no binary. us/program: microseconds of Kiln above the floor. late: programs that
compile at their first launch through Kiln."""


def host_devices():
    """The registry's devices that this system's own packages give, without the checker."""
    return [d for d in registry.devices()
            if d["suite"] == "host" and d["way"] == "host" and not registry.unavailable(d)]


def run_on(device, folder, *command, **options):
    """Runs a command on a device with `folder` as its working directory."""
    return subprocess.run([sys.executable, str(LAB), "run", device["id"], "--dir", str(folder),
                           "--", *command], text=True, **options)


def measure(device, tool, pack, rounds):
    """The rows of kiln_startup on one device, a device that could not be measured with its "error".
    Raises if the tool prints nothing."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy2(tool, Path(folder) / "kiln_startup")
        shutil.copy2(pack, Path(folder) / "pack.kiln")
        done = run_on(device, folder, "./kiln_startup", "pack.kiln", "--device", device["select"],
                      "--rounds", str(rounds), stdout=subprocess.PIPE)
        if not done.stdout.startswith("{"):
            raise RuntimeError(f"kiln_startup on {device['id']}: exit {done.returncode}")
        return json.loads(done.stdout)["devices"]


def compiling_late(row):
    """The first results of a row whose program compiles at its first launch."""
    return [f for f in row.get("first_results", []) if f["compiles_at_first_launch"]]


def milliseconds(value):
    """In eight characters or a few more."""
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 100 else f"{value:.1f}" if value < 10000 else f"{value:.0f}"


def ratio(a, b):
    """In six characters where it is not huge."""
    return f"{a / b:.2f}" if b > 0 else "-"


def results_line(name, row):
    """A row of the first table."""
    until = "results_ms" if row["executes"] else "kernels_ms"
    times = {way: row[way][until] for way in WAYS}
    line = f"{name + ('' if row['executes'] else ' *'):18} {row['programs']:8} "
    line += " ".join(f"{milliseconds(times[way]):>9}" for way in WAYS)
    line += (f" {ratio(times['kiln'], times['floor']):>6}"
             f" {ratio(times['overlay'], times['floor']):>8}"
             f" {row['microseconds_above_floor_per_program']:8.1f}"
             f" {row['compile_at_first_launch'] if row['executes'] else '-':>7}")
    return line


def kernels_line(name, row):
    """A row of the second table."""
    times = {way: row[way]["kernels_ms"] for way in WAYS}
    line = f"{name:18} {row['programs']:8} "
    line += " ".join(f"{milliseconds(times[way]):>9}" for way in WAYS)
    line += (f" {ratio(times['kiln'], times['floor']):>6}"
             f" {ratio(times['overlay'], times['floor']):>8}")
    return line


def compiling_late_lines(rows):
    """The programs that compile at their first launch, named."""
    lines = []
    for name, row in rows:
        compiling = compiling_late(row)
        named = [f"{f['program']}/{f['variant']} ({milliseconds(f['first_launch_ms'])} ms, then "
                 f"{milliseconds(f['second_launch_ms'])})" for f in compiling[:MOST_NAMED]]
        if len(compiling) > MOST_NAMED:
            named.append(f"and {len(compiling) - MOST_NAMED} more")
        if named:
            lines.append(f"{name} compiles at the first launch of:")
            lines += [f"  {one}" for one in named]
    if not lines and any(row.get("executes") for _, row in rows):
        lines.append("No program compiles at its first launch.")
    return lines


def heading(columns):
    """Two lines over a table: the ways, then ratios and more columns of (width, above, below)."""
    columns = [(6, "kiln/", "floor"), (8, "overlay/", "floor"), *columns]
    first = f"{'device':18} {'programs':>8} " + " ".join(f"{way:>9}" for way in WAYS)
    above = " ".join(f"{above:>{width}}" for width, above, _ in columns)
    below = " ".join(f"{below:>{width}}" for width, _, below in columns)
    return [f"{'':{len(first)}} {above}".rstrip(), f"{first} {below}"]


def table(rows, rounds):
    """Both tables as text; rows are pairs of a name and what Kiln said of the device."""
    measured = [(name, row) for name, row in rows if "error" not in row]
    executing = [(name, row) for name, row in measured if row["executes"]]
    lines = [f"Milliseconds to the first results; medians of {rounds} fresh processes each,",
             "of half as many where a start takes over a second."]
    lines += heading([(8, "us/", "program"), (7, "", "late")])
    lines += [results_line(name, row) for name, row in measured]
    lines += [f"{name:18} no figures: {row['error']}" for name, row in rows if "error" in row]
    if len(executing) < len(measured):
        lines.append("* executes nothing here: its times are those to the kernels.")
    lines += compiling_late_lines(measured)
    if executing:
        lines += ["", "Milliseconds until every kernel exists, in the same processes."]
        lines += heading([])
        lines += [kernels_line(name, row) for name, row in executing]
    lines += ["", NOTES]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=Path, required=True, help="kiln_startup")
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("devices", nargs="*", help="registry ids; default: the host's devices")
    options = parser.parse_args()
    rows = []
    for device in map(registry.find_device, options.devices) if options.devices else host_devices():
        print(f"measuring {device['id']}", file=sys.stderr)
        rows += [(device["id"], row)
                 for row in measure(device, options.tool, options.pack, options.rounds)]
    print(table(rows, options.rounds))
    return 1 if any("error" in row for _, row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())

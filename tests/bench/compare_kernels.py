#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the times of variants in two packs: what `kiln-bench kernels --json` printed of each.

    compare_kernels.py ONE OTHER [--each]

ONE and OTHER are files, or folders of files, whose variants are compared by program, size and name
where both were loaded as exact. Prints the spread of ONE's time by OTHER's, and with --each a line for
each; what takes less than five microseconds says nothing and is left out.
"""

import argparse
import json
import statistics
from pathlib import Path

LEAST = 5000  # nanoseconds


def times(place):
    """(program, size, variant) -> nanoseconds, of what was loaded as exact."""
    path = Path(place)
    found = {}
    for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
        if file.stat().st_size == 0:
            continue
        for device in json.loads(file.read_text(encoding="utf-8"))["devices"]:
            for program in device["programs"]:
                for size in program["sizes"]:
                    for variant in size["variants"]:
                        if variant["available"] and variant.get("rung") == "exact":
                            key = (program["program"], tuple(size["size"]), variant["variant"])
                            found[key] = variant["nanoseconds"]
    return found


def main():
    """Prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("one")
    parser.add_argument("other")
    parser.add_argument("--each", action="store_true")
    arguments = parser.parse_args()
    one, other = times(arguments.one), times(arguments.other)
    ratios = {key: one[key] / other[key] for key in sorted(one.keys() & other.keys())
              if min(one[key], other[key]) >= LEAST}
    if arguments.each:
        for (program, size, variant), ratio in ratios.items():
            key = (program, size, variant)
            print(f"{ratio:6.2f}  {one[key] / 1000:10.1f} {other[key] / 1000:10.1f} us  "
                  f"{program}/{variant} {'x'.join(map(str, size))}")
    values = sorted(ratios.values())
    if not values:
        print("nothing to compare")
        return
    print(f"{len(values)} times of {len({key[0::2] for key in ratios})} variants: median "
          f"{statistics.median(values):.2f}, from {values[0]:.2f} to {values[-1]:.2f}; "
          f"{sum(v > 1.1 for v in values)} above 1.1, {sum(v < 0.9 for v in values)} below 0.9")


if __name__ == "__main__":
    main()

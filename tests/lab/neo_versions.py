#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which versions of Intel's driver take which others' binaries: builds as several GPU models on
each version that the laboratory has, and cross-checks every pair. Packs that are named besides,
such as those of `ocloc`, are given to each of them, too. Prints a line for each pair."""

import argparse
import collections
import json
import shutil
import sys
import tempfile
from pathlib import Path

import registry
from fleet import Station, call

# The models that each version knows, by the lab's device that stands for the version.
MODELS = {"neo-20.44-skl": ("skl", "bxt", "icllp", "tgllp"),
          "neo-22.43-skl": ("skl", "bxt", "icllp", "tgllp", "dg1", "dg2"),
          "neo-24.35-skl": ("skl", "kbl", "bxt", "icllp")}


def as_model(station, model, *arguments):
    """Runs the builder on the driver as that model; what it prints as JSON."""
    done = station.kiln(*arguments, "--device", station.device["select"], "--json",
                        settings={"ProductFamilyOverride": model})
    return done.expect_code(0, f"kiln {arguments[0]} as {model}").json()


def build(station, base, model):
    """The model's pack."""
    name = f"{station.id}-as-{model}.kiln"
    as_model(station, model, "build", station.bring(base), "-o", name)
    return station.folder / name


def side_of(key):
    """Driver version, IP version or name, and address bits of a target."""
    facts = dict(line.split("=", 1) for line in key.splitlines())
    what = facts.get("ip_version") or facts["device_name"]
    return f"{facts['driver_version']} {what}, {facts['address_bits']} bits"


def main():
    """Builds, checks and prints; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kiln", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True, help="base pack")
    parser.add_argument("packs", type=Path, nargs="*", help="more packs, whose keys may clash")
    arguments = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="kiln-neo-"))
    try:
        return run(arguments, work)
    finally:
        shutil.rmtree(work)


def run(arguments, work):
    """The same, in a folder that is there."""
    stations = [Station(registry.find_device(name), work / name, arguments.kiln.absolute())
                for name in MODELS if not registry.unavailable(registry.find_device(name))]
    built = [build(station, arguments.base, model)
             for station in stations for model in MODELS[station.id]]
    fleet = work / "drivers.kiln"
    call([arguments.kiln.absolute(), "pack", "merge", *built, "-o", fleet],
         work).expect_code(0, "kiln pack merge")
    counts = collections.Counter()
    for pack in (fleet, *(pack.absolute() for pack in arguments.packs)):
        for station in stations:
            for model in MODELS[station.id]:
                checked = as_model(station, model, "crosscheck", station.bring(pack), "-o",
                                   "checked.kiln")["cross_checks"]
                for one in checked:
                    counts[one["result"]] += 1
                    print(f"{one['result']:10} {station.device['version']} {model:5} given "
                          f"{pack.name}: {side_of(one['target_key'])}  {one['reason']}", flush=True)
    print(json.dumps(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main())

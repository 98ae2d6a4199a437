#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model of a year of a fleet (docs/operate/scaling.md, "A simulated year"): each week a release of the
application, and driver updates; coverage and bytes, with and without harvest and `kiln fleet watch`.

    simulate.py KILN FORGE_FLEET OUTPUT [--devices 1000000 --weeks 52 ...]

Writes OUTPUT/simulation.json, coverage.svg, bytes.svg and published.svg, and prints a table. KILN and FORGE_FLEET
(kiln_forge_fleet) give the sizes: a real pack, or --pack, is published with some hundred targets.
Devices are counted by pair of model and driver, not one by one. The same seed gives the same year.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Intel's driver as these GPUs: the real targets of the pack.
GPUS = ("skl", "icllp", "tgllp", "dg1")

# Name, default, meaning, and where the default is from.
PARAMETERS = (
    ("devices", 1_000_000, "devices", "assumption"),
    ("weeks", 52, "weeks, each with one release, which changes programs", "assumption"),
    ("models", 1000, "models", "assumption"),
    ("drivers", 10, "drivers of each model in use at first", "assumption"),
    ("exponent", 1.0, "the model of rank r has a share of r^-exponent", "assumption (Zipf)"),
    ("driver-weeks", 13, "weeks between two drivers of a model", "Mesa has a version each quarter"),
    ("take", 0.05, "share of devices with an older driver that take the newest in a week",
     "assumption"),
    ("kept-keys", 0.1, "share of models whose binaries survive driver updates, as on NVIDIA",
     "assumption; that they survive is in docs/understand/final.md"),
    ("own-models", 85, "models that the publisher builds for, the commonest first",
     "a third of the 254 targets of docs/operate/virtual.md"),
    ("own-drivers", 3, "newest drivers of these models that the publisher builds for",
     "the laboratory has three of Mesa, NEO and PoCL"),
    ("own-lag", 1, "weeks until the publisher has a new driver", "assumption"),
    ("canary", 0.01, "with harvest: share of devices that get a release a week early", "assumption"),
    ("local", 0.5, "share of devices on which watch can build", "assumption"),
    ("late", 0.02, "share of updates after which the application starts before watch is done",
     "assumption"),
    ("repositories", 1, "repositories among which the targets are divided; each has the programs",
     "as published today"),
    ("copies", 75, "copies of each target in the pack that is published for its sizes",
     "300 targets with the pack that Intel's driver builds"),
    ("seed", 1, "seed of the random numbers", "any"),
)
SCENARIOS = (("neither", False, False), ("watch", False, True), ("harvest", True, False),
             ("both", True, True))


@dataclass
class Sizes:
    """Bytes of what is published, as kiln made it."""
    programs: int          # the layer with source and SPIR-V
    none: int              # the delta for devices without a target
    targets: list          # a delta for each real target
    manifest: int          # a manifest without targets
    manifest_target: int   # what each target adds to it
    changed_program: int   # a delta between two slices that differ in one program; mean


@dataclass
class Model:
    """The devices of one model by driver, the oldest first."""
    counts: list
    kept_key: bool
    size: int    # bytes of its targets' deltas
    phase: int   # of its vendor's releases
    draws: list  # for each driver, what decides how its canary devices are rounded
    ages: list   # for each driver, the week of its release


@dataclass
class Week:
    """What one scenario's week came to."""
    clean: int = 0       # devices none of whose starts compiled anything
    updated: int = 0     # devices whose key changed
    served: int = 0      # of these the clean ones
    targets: int = 0     # in the publication
    published: int = 0   # bytes of new blobs and manifests
    programs: int = 0    # fetches by what was fetched
    none: int = 0
    manifests: int = 0
    deltas: Counter = field(default_factory=Counter)  # by size


def run(*words):
    """What a command prints."""
    environment = dict(os.environ, KILN_STORE="none")
    return subprocess.run([str(word) for word in words], env=environment, check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def publish(kiln, pack, layout):
    """The sizes of the programs and deltas, programs first, and of manifest and index together."""
    said = json.loads(run(kiln, "fleet", "publish", pack, "--to", layout, "--json"))
    manifest = layout / "manifest.json"
    index = json.loads(manifest.read_text())["layers"][0]
    return ([said["programs_size"], *(one["delta_size"] for one in said["packs"])],
            manifest.stat().st_size + index["size"])


def measure(kiln, forge, pack, copies):
    """Publishes, slices and makes deltas of a real pack, and of one with so many copies of its targets."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if pack is None:
            pack = folder / "pack.kiln"
            run(kiln, "compile", ROOT / "manifests" / "tour.toml", "-o", folder / "base.kiln")
            run(kiln, "build", folder / "base.kiln", "--virtual", "neo:" + ",".join(GPUS), "-o", pack)
        shown = json.loads(run(kiln, "pack", "inspect", pack, "--json"))
        programs = [program["name"] for program in shown["programs"]]
        keys = [target["key_hash"] for target in shown["targets"]]
        run(forge, pack, copies, folder / "fleet.kiln")
        few, small = publish(kiln, pack, folder / "few")
        many, large = publish(kiln, folder / "fleet.kiln", folder / "many")
        added = len(many) - len(few)
        per_target = (large - small) / added
        changes = []
        for key in keys:
            whole = folder / "whole.kiln"
            run(kiln, "pack", "slice", pack, "--target", key, "-o", whole)
            for program in programs if len(programs) > 1 else ():
                kept = [word for name in programs if name != program for word in ("--program", name)]
                run(kiln, "pack", "slice", whole, *kept, "-o", folder / "less.kiln")
                run(kiln, "fleet", "delta", folder / "less.kiln", whole, "-o", folder / "delta")
                changes.append((folder / "delta").stat().st_size)
        return Sizes(programs=many[0], none=many[1], targets=sorted(many[2:]),
                     manifest=round(small - per_target * len(keys)),
                     manifest_target=round(per_target),
                     changed_program=round(sum(changes) / max(1, len(changes))))


def apportion(total, weights):
    """Whole numbers of this sum in proportion to the weights, each at least 1."""
    if total < len(weights):
        sys.exit(f"simulate.py: {total} devices are fewer than {len(weights)} pairs")
    rest, sum_of_weights = total - len(weights), sum(weights)
    exact = [rest * weight / sum_of_weights for weight in weights]
    counts = [1 + int(value) for value in exact]
    order = sorted(range(len(weights)), key=lambda i: int(exact[i]) - exact[i])
    for i in order[:total - sum(counts)]:
        counts[i] += 1
    return counts


def make_fleet(options, sizes, random_numbers):
    """The models, the commonest first. The shares of drivers are those that updates lead to."""
    left_behind = (1 - options.take) ** options.driver_weeks
    by_driver = [left_behind ** age for age in reversed(range(options.drivers))]
    weights = [rank ** -options.exponent * share / sum(by_driver)
               for rank in range(1, options.models + 1) for share in by_driver]
    counts = apportion(options.devices, weights)
    fleet = []
    for rank in range(options.models):
        first = rank * options.drivers
        fleet.append(Model(counts=counts[first:first + options.drivers],
                           kept_key=random_numbers.random() < options.kept_keys,
                           size=sizes.targets[int(random_numbers.random() * len(sizes.targets))],
                           phase=random_numbers.randrange(options.driver_weeks),
                           draws=[random_numbers.random() for _ in range(options.drivers)],
                           ages=[-options.driver_weeks] * options.drivers))
    return fleet


def own_drivers(model, rank, week, options):
    """The drivers for which the publisher builds this week's release."""
    if rank >= options.own_models:
        return frozenset()
    known = [driver for driver, age in enumerate(model.ages) if age <= week - options.own_lag]
    return frozenset(known[-options.own_drivers:])


def rounded(value, draw):
    """A whole number whose mean over all draws is the value."""
    return math.floor(value + draw)


def keys_of(model):
    """The keys of a model: of each the devices, its draw, and its drivers."""
    if model.kept_key:
        return [(sum(model.counts), model.draws[0], range(len(model.counts)))]
    return [(count, model.draws[driver], (driver,)) for driver, count in enumerate(model.counts)]


def move_devices(model, drivers, options, random_numbers):
    """Moves a part of the devices with these drivers to the newest; how many changed their key."""
    newest, moved = len(model.counts) - 1, 0
    for driver in drivers:
        if driver != newest:
            count = model.counts[driver]
            part = min(count, rounded(count * options.take, random_numbers.random()))
            model.counts[driver] -= part
            model.counts[newest] += part
            moved += part
    return 0 if model.kept_key else moved


def release_driver(model, week, random_numbers):
    """A driver that no device has yet."""
    model.counts.append(0)
    model.draws.append(random_numbers.random())
    model.ages.append(week)


def simulate_week(fleet, canaries, week, options, sizes, random_numbers):
    """The application's release, then drivers' releases and updates; changes the fleet. `canaries` are
    the keys that last week's canary devices had, as (rank, first driver). Returns a Week for each
    scenario, and this week's canaries.
    """
    results = {name: Week() for name, _, _ in SCENARIOS}
    seen_now = set()
    for rank, model in enumerate(fleet):
        own = own_drivers(model, rank, week, options)
        keys = keys_of(model)
        if (week + model.phase) % options.driver_weeks == 0:
            release_driver(model, week, random_numbers)
        newest = len(model.counts) - 1
        newest_has_target = {False: newest in own, True: newest in own or (rank, newest) in canaries}
        for devices, draw, drivers in keys:
            moved = move_devices(model, drivers, options, random_numbers)
            late = min(moved, rounded(moved * options.late, random_numbers.random()))
            built = min(moved - late, rounded((moved - late) * options.local, random_numbers.random()))
            canary = min(devices, rounded(devices * options.canary, draw))
            if canary:
                seen_now.add((rank, drivers[0]))
            is_own = not own.isdisjoint(drivers)
            for name, harvest, watch in SCENARIOS:
                results[name].updated += moved
                has_target = is_own or (harvest and (rank, drivers[0]) in canaries)
                count_key(results[name], devices, moved if watch else 0, model.size, has_target,
                          newest_has_target[harvest])
                if has_target:
                    # Canary devices compiled the next release, unless the publisher had its binaries.
                    compiled = canary if harvest and not is_own else 0
                    served = 0
                    if watch:
                        served = moved - late if newest_has_target[harvest] else built
                    staying = devices - moved
                    served = max(0, served - max(0, compiled - staying))
                    results[name].served += served
                    results[name].clean += max(0, staying - compiled) + served
    for name, harvest, _ in SCENARIOS:
        result = results[name]
        result.published += options.repositories * (sizes.programs + sizes.none)
        result.published += manifests_bytes(result.targets, options, sizes)
        if harvest:  # the canary's manifests have the publisher's own targets
            result.published += manifests_bytes(results["neither"].targets, options, sizes)
    return results, seen_now


def count_key(result, devices, watched, size, has_target, newest_has_target):
    """Counts a key's target, its devices' fetches of the week's release, and watch's after updates."""
    result.manifests += devices + watched
    result.programs += devices
    if has_target:
        result.targets += 1
        result.published += size
        result.deltas[size] += devices
    else:
        result.none += devices
    if newest_has_target:
        result.deltas[size] += watched


def manifests_bytes(targets, options, sizes):
    """All repositories' manifests."""
    return options.repositories * sizes.manifest + targets * sizes.manifest_target


def bytes_by_kind(week, options, sizes):
    """What all devices fetched in a week."""
    manifest = manifests_bytes(week.targets, options, sizes) / options.repositories
    return {"manifests": round(week.manifests * manifest), "programs": week.programs * sizes.programs,
            "deltas": week.none * sizes.none + sum(size * count for size, count in week.deltas.items())}


def simulate(options, sizes):
    """Each week's figures: devices, pairs, and by scenario a Week and the bytes fetched."""
    random_numbers = random.Random(options.seed)
    fleet = make_fleet(options, sizes, random_numbers)
    weeks, canaries = [], frozenset()
    for week in range(options.weeks):
        results, canaries = simulate_week(fleet, canaries, week, options, sizes, random_numbers)
        weeks.append({"devices": sum(sum(model.counts) for model in fleet),
                      "pairs": sum(count > 0 for model in fleet for count in model.counts),
                      "scenarios": results})
    return weeks


def rows_of(weeks, options, sizes):
    """The weeks as they are written to simulation.json."""
    rows = []
    for number, week in enumerate(weeks):
        row = {"week": number, "devices": week["devices"], "pairs": week["pairs"], "scenarios": {}}
        for name, result in week["scenarios"].items():
            kinds = bytes_by_kind(result, options, sizes)
            row["scenarios"][name] = {
                "coverage": result.clean / options.devices,
                "coverage_of_updated": result.served / max(1, result.updated),
                "targets": result.targets,
                "published_bytes": result.published, "fetched_bytes": kinds,
                "fetched_bytes_per_device": sum(kinds.values()) / options.devices,
                "fetches": {"manifests": result.manifests, "programs": result.programs,
                            "none": result.none, "deltas": dict(sorted(result.deltas.items()))}}
        rows.append(row)
    return rows


COLOURS = {"neither": "#888888", "watch": "#1f77b4", "harvest": "#d95f02", "both": "#1b7837"}
WORDS = {"neither": "neither", "watch": "watch", "harvest": "harvest", "both": "harvest and watch"}


def plot(title, rows, value, top, unit):
    """A line for each scenario over the weeks, as SVG."""
    width, height, left, bottom, upper, right = 720, 320, 60, 40, 36, 150
    weeks = max(1, len(rows) - 1)

    def x(week):
        return left + (width - left - right) * week / weeks

    def y(number):
        return height - bottom - (height - bottom - upper) * number / top

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             f'<text x="{left}" y="20" font-size="14">{title}</text>']
    for step in range(6):
        mark = top * step / 5
        parts.append(f'<line x1="{left}" x2="{width - right}" y1="{y(mark):.1f}" y2="{y(mark):.1f}" '
                     'stroke="#dddddd"/>')
        parts.append(f'<text x="{left - 6}" y="{y(mark) + 4:.1f}" text-anchor="end">{mark:g}{unit}</text>')
    for week in range(0, len(rows), max(1, weeks // 4)):
        parts.append(f'<text x="{x(week):.1f}" y="{height - bottom + 18}" '
                     f'text-anchor="middle">week {week}</text>')
    last = []
    for name, _, _ in SCENARIOS:
        points = " ".join(f"{x(row['week']):.1f},{y(value(row['scenarios'][name])):.1f}" for row in rows)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[name]}" '
                     'stroke-width="2"/>')
        last.append((y(value(rows[-1]["scenarios"][name])), name))
    place = -math.inf
    for wanted, name in sorted(last):  # names beside the lines' ends, none over another
        place = max(wanted + 4, place + 15)
        parts.append(f'<text x="{width - right + 8}" y="{place:.1f}" '
                     f'fill="{COLOURS[name]}">{WORDS[name]}</text>')
    return "\n".join(parts + ["</svg>", ""])


def nice_top(value):
    """The smallest of 1, 2, 5, 10, ... that is not below the value."""
    power = 10 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)


def write(folder, options, sizes, rows):
    """The figures and their plots."""
    folder.mkdir(parents=True, exist_ok=True)
    given = {name.replace("-", "_"): {"value": getattr(options, name.replace("-", "_")), "from": source}
             for name, _, _, source in PARAMETERS}
    (folder / "simulation.json").write_text(json.dumps(
        {"schema": 1, "parameters": given, "sizes": vars(sizes), "weeks": rows}, indent=1) + "\n",
        encoding="utf-8")
    (folder / "coverage.svg").write_text(plot(
        "Devices none of whose starts compile anything", rows,
        lambda result: 100 * result["coverage"], 100, " %"), encoding="utf-8")
    most = max(result["fetched_bytes_per_device"] for row in rows
               for result in row["scenarios"].values())
    published = max(row["scenarios"]["both"]["published_bytes"] for row in rows)
    (folder / "published.svg").write_text(plot(
        "Megabytes published in a week", rows,
        lambda result: result["published_bytes"] / 1e6, nice_top(published / 1e6), ""), encoding="utf-8")
    (folder / "bytes.svg").write_text(plot(
        "Kilobytes fetched by a device in a week", rows,
        lambda result: result["fetched_bytes_per_device"] / 1000, nice_top(most / 1000), ""),
        encoding="utf-8")


def print_table(rows, sizes):
    """Week 0, and the mean of the others."""
    print(f"sizes in bytes: programs {sizes.programs}, targets {sizes.targets[0]} to "
          f"{sizes.targets[-1]}, manifest {sizes.manifest} and {sizes.manifest_target} a target; "
          f"a changed program as a delta between slices {sizes.changed_program}")
    print(f"pairs with devices: {rows[0]['pairs']} to {rows[-1]['pairs']}")
    print(f"{'':18}{'week 0':>9}{'later':>9}{'lowest':>9}{'updated':>9}{'targets':>9}{'published':>14}{'fetched':>18}")
    later = rows[1:] or rows
    for name, _, _ in SCENARIOS:
        results = [row["scenarios"][name] for row in later]

        def mean(what):
            return sum(result[what] for result in results) / len(results)

        print(f"{WORDS[name]:18}{100 * rows[0]['scenarios'][name]['coverage']:8.2f}%"
              f"{100 * mean('coverage'):8.2f}%{100 * min(r['coverage'] for r in results):8.2f}%"
              f"{100 * mean('coverage_of_updated'):8.2f}%{mean('targets'):9.0f}{mean('published_bytes') / 1e6:11.1f} MB"
              f"{mean('fetched_bytes_per_device') / 1e3:11.1f} kB/dev")


def parse(words):
    """The command line. Values out of range are refused."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("kiln", type=Path)
    parser.add_argument("forge_fleet", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--pack", type=Path, help="pack to measure; default: built by Intel's driver")
    for name, default, meaning, source in PARAMETERS:
        parser.add_argument(f"--{name}", type=type(default), default=default,
                            help=f"{meaning}; default {default}: {source}".replace("%", "%%"))
    options = parser.parse_args(words)
    for name, default, _, _ in PARAMETERS:
        value = getattr(options, name.replace("-", "_"))
        is_share = name in ("take", "kept-keys", "canary", "local", "late")
        lowest = {"own-models": 0, "seed": 0, "exponent": 0, "copies": 2}.get(name, 0 if is_share else 1)
        if value < lowest or (is_share and value > 1):
            parser.error(f"--{name}: {value} is out of range")
    return options


def main(words):
    options = parse(words)
    sizes = measure(options.kiln, options.forge_fleet, options.pack, options.copies)
    rows = rows_of(simulate(options, sizes), options, sizes)
    write(options.output, options, sizes, rows)
    print_table(rows, sizes)


if __name__ == "__main__":
    main(sys.argv[1:])

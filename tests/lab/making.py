# SPDX-License-Identifier: Apache-2.0
"""Making packs: the base pack, a pack per device, and the fleet's one pack of them all."""

import shutil

from fleet import ORDERED_BY_ADDRESS, UNSTEADY
from suite import Failed, Skipped, expect

TARGETS, DRIVERS = 10, 6
# PoCL's binaries are never the same twice; Oclgrind's hold the working directory's name.
NEVER_SAME = ("PoCL", "Oclgrind")


def base_pack(suite, fleet, manifest):
    """Makes the base pack in several ways, and keeps one; whether it could be made."""
    with suite.phase("the base pack"):
        return suite.check(
            "base packs made in two folders, from an absolute and a relative manifest and from a "
            "copy of the sources, are byte-identical", _same_base_packs, fleet, manifest)


def plain_base_pack(fleet, manifest, made=None):
    """Makes the base pack, once, unless it was made before."""
    fleet.base = fleet.work / "base.kiln"
    if made:
        shutil.copy(made, fleet.base)
    else:
        fleet.host("compile", manifest, "-o", fleet.base).expect_code(0, "kiln compile")
    _remember_programs(fleet)


def device_packs(suite, fleet, names):
    """Opens a station for every device and builds its pack there."""
    with suite.phase("every device builds"):
        suite.check_each(names, "{} is a device of the fleet", fleet.open_station)
        fleet.stations = {name: fleet.stations[name] for name in names if name in fleet.stations}
        suite.check_each(list(fleet.stations), "{} builds every variant that it can run",
                         lambda name: build(fleet, name))
        suite.check_each(_steady(fleet), "{} builds the same bytes in another folder",
                         lambda name: _build_again(fleet, name))


def _steady(fleet):
    """Of each version of a driver that makes the same binaries again, one device."""
    devices = {(station.device["driver"], station.device["version"]): name
               for name, station in fleet.stations.items() if not station.device["moving"]}
    return [name for (driver, _), name in devices.items() if driver not in NEVER_SAME]


def fleet_pack(suite, fleet):
    """Merges the devices' packs and looks at the result; whether there is one."""
    with suite.phase("one pack for the fleet"):
        made = suite.check("all devices' packs merge into one, in any order", _merge, fleet)
        return made and suite.check(
            f"the fleet's pack has {TARGETS} targets of {DRIVERS} driver versions or more",
            _count_targets, fleet)


def inspect(fleet, pack):
    """What `kiln pack inspect` says about a pack."""
    return fleet.host("pack", "inspect", pack, "--json").expect_code(0, "kiln pack inspect").json()


def _same_base_packs(fleet, manifest):
    """The manifest by two names, and a copy of it with its kernels in a third place."""
    first, second, copy = (fleet.work / name for name in ("base-1", "base-2", "elsewhere"))
    second.mkdir()
    first.mkdir()
    sources = manifest.parent.parent
    for part in (manifest.parent.name, "kernels"):
        shutil.copytree(sources / part, copy / part)
    ways = ((first, manifest), (sources, manifest.relative_to(sources)),
            (copy / manifest.parent.name, manifest.name))
    packs = [first / "base.kiln", second / "base.kiln", copy / "base.kiln"]
    for (folder, name), pack in zip(ways, packs):
        done = fleet.host("compile", name, "-o", pack, folder=folder)
        done.expect_code(0, "kiln compile")
    different = [str(pack) for pack in packs if pack.read_bytes() != packs[0].read_bytes()]
    expect(not different, f"these differ from {packs[0]}: {', '.join(different)}")
    fleet.base = packs[0]
    _remember_programs(fleet)
    _make_small_base(fleet, manifest)


def _make_small_base(fleet, manifest):
    """The manifest's first program alone, for devices that build no more."""
    head, first, *others = manifest.read_text(encoding="utf-8").split("\n[program.")
    name = first.partition("]")[0]
    parts = [head, first, *(part for part in others if part.startswith(f"{name}."))]
    # Beside the copy of the kernels, since names of files are in what a variant is known by.
    small = fleet.work / "elsewhere" / manifest.parent.name / "small.toml"
    small.write_text("\n[program.".join(parts), encoding="utf-8")
    fleet.small_base = fleet.work / "small.kiln"
    fleet.host("compile", small, "-o", fleet.small_base).expect_code(0, "kiln compile")


def _remember_programs(fleet):
    """What the base pack holds."""
    fleet.programs = inspect(fleet, fleet.base)["programs"]
    fleet.some = [(program["name"], program["variants"][-1]["name"]) for program in fleet.programs]
    fleet.variants = [(program["name"], variant["name"])
                      for program in fleet.programs for variant in program["variants"]]


def build(fleet, name):
    """The device's own pack.

    A variant is left out for its requirements, a proof among them, or as the duplicate of another.
    `station.refused` are the variants that a moving suite's driver cannot compile.
    """
    station = fleet.stations[name]
    station.bring(fleet.small_base if station.small else fleet.base, "base.kiln")
    summary = station.build("base.kiln", f"{name}.kiln")
    station.pack = station.folder / f"{name}.kiln"
    (target,) = inspect(fleet, station.pack)["targets"]
    built = {binary["variant"] for binary in target["binaries"]}
    missing = [pair for pair in fleet.variants if "/".join(pair) not in built]
    station.refused = [pair for pair in missing if any(
        failure["job"].startswith("/".join(pair) + " ") for failure in summary["failures"])]
    station.left_out = [pair for pair in missing if pair not in station.refused]
    if station.small:
        expect(len(built) + len(station.refused) == 1, f"binaries are missing: {summary}")
    else:
        without_proof = [name for name in summary["left_out"] if "not proven" in name["reason"]]
        expect(len(station.left_out) == summary["skipped"] + len(without_proof),
               f"binaries are missing: {summary}")
        hashes = {_variant(fleet, pair)["hash"] for pair in fleet.variants if "/".join(pair) in built}
        for pair in station.left_out:
            variant = _variant(fleet, pair)
            expect(variant["requirements"] or variant["hash"] in hashes,
                   f"{pair} needs nothing, and has no binary")
    return _expect_not_refused(station, summary) or _built_text(built, station.left_out)


def _expect_not_refused(station, summary):
    """A driver of a moving suite may fail; what it says is reported, and the rest goes on."""
    failures = "; ".join(f"{failure['job']}: {failure['error'].splitlines()[0]}"
                         for failure in summary["failures"])
    expect(not failures or station.device["moving"], failures)
    if failures:
        raise Skipped(f"the moving suite's driver refuses {failures}")


def _built_text(built, left_out):
    """How many binaries there are, and which there cannot be."""
    text = ", ".join("/".join(pair) for pair in left_out)
    return f"{len(built)} binaries" + (f"; without {text}" if text else "")


def _variant(fleet, pair):
    """The variant as `kiln pack inspect --json` prints it."""
    (found,) = [v for p in fleet.programs for v in p["variants"]
                if (p["name"], v["name"]) == pair]
    return found


def _build_again(fleet, name):
    """Another folder, and where that does not matter another name of the pack: the same bytes. An
    unsteady compiler gets three tries to give the same bytes twice, and the differences are told."""
    ordered = name in ORDERED_BY_ADDRESS
    base, output = ("base.kiln", f"{name}.kiln") if ordered else ("b.kiln", "again.kiln")
    pack, differences = fleet.stations[name].pack, []
    seen = [pack.read_bytes()]
    for folder in ("2", "3", "4") if name in UNSTEADY else ("2",):
        again = _build_in(fleet, name, folder, base, output)
        if again.read_bytes() in seen:
            break
        seen.append(again.read_bytes())
        differences.append(f"in folder {folder} other bytes: {_differences(fleet, [pack, again])}")
    else:
        raise Failed("; ".join(differences))
    if ordered:
        differences.append(f"in folder {folder}, with the same names of files: the driver's "
                           "compiler orders by address")
    return "; ".join(differences)


def _differences(fleet, packs):
    """What two packs of one device record in two ways."""
    first, second = (_recorded(inspect(fleet, pack)) for pack in packs)
    return "; ".join(f"{name}: {first.get(name)} and {second.get(name)}"
                     for name in sorted(first.keys() | second.keys())
                     if first.get(name) != second.get(name)) or "nothing that is listed"


def _recorded(inspected):
    """The facts of each device and, of each variant, its binary and what goes with it, as hashes
    and sizes, and how it was made."""
    facts = {f"device's {name}": fact for target in inspected["targets"]
             for name, fact in target["identity"].items()}
    def name(blob):
        return blob and (blob["hash"], blob["raw_size"])
    return facts | {binary["variant"]: (name(binary["blob"]), name(binary["cache_entries"]),
                                        binary["provenance"])
                    for target in inspected["targets"] for binary in target["binaries"]}


def _build_in(fleet, name, folder, base, output="again.kiln"):
    """Builds in another folder; the pack."""
    station = fleet.another_station(name, folder)
    station.build(station.bring(fleet.base, base), output)
    return station.folder / output


def _merge(fleet):
    """Merges forwards and backwards."""
    packs = [station.pack for station in fleet.stations.values() if hasattr(station, "pack")]
    fleet.pack, backwards = fleet.work / "fleet.kiln", fleet.work / "backwards.kiln"
    fleet.host("pack", "merge", *packs, "-o", fleet.pack).expect_code(0, "kiln pack merge")
    fleet.host("pack", "merge", *packs[::-1], "-o", backwards).expect_code(0, "kiln pack merge")
    expect(fleet.pack.read_bytes() == backwards.read_bytes(), "the order changes the bytes")
    fleet.host("pack", "verify", fleet.pack).expect_code(0, "kiln pack verify")
    fleet.targets = {target["key"]: target for target in inspect(fleet, fleet.pack)["targets"]}
    return f"{len(packs)} packs, {fleet.pack.stat().st_size} bytes"


def _count_targets(fleet):
    """Counts targets and drivers; the table of devices goes to the summary.

    A driver version is a pair of platform name and driver version: "3.1" of one vendor is not
    "3.1" of another. NEO 20.44 reports driver version 1.0.0 and is counted as that.
    """
    rows = [("device", "platform", "device name", "driver version", "profile", "binaries")]
    for name, station in fleet.stations.items():
        target = fleet.targets.get(station.key)
        expect(target, f"{name}: the pack has no target with its key")
        facts = target["identity"]
        rows.append((name, facts["platform_name"], facts["device_name"], facts["driver_version"],
                     target["profile"], str(len(target["binaries"]))))
    table = _table(rows)
    identities = [target["identity"] for target in fleet.targets.values()]
    drivers = {(facts["platform_name"], facts["driver_version"]) for facts in identities}
    counts = (f"{len(fleet.targets)} targets of {len(fleet.stations)} devices, {len(drivers)} "
              "different pairs of platform and driver version (NEO 20.44 calls itself 1.0.0; "
              "one driver under two ICD loaders is one target)")
    fleet.summary += [table, counts]
    expect(len(fleet.targets) >= TARGETS and len(drivers) >= DRIVERS, counts)
    return counts


def _table(rows):
    """Columns of the width of their widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("   " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths))
                     for row in rows)

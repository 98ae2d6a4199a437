# SPDX-License-Identifier: Apache-2.0
"""Final code: nothing is left to compile at a first launch, and where something is, it is seen."""

from making import inspect
from suite import Skipped, expect

# Drivers whose caches show what they compiled. Oclgrind interprets.
DRIVERS = ("PoCL", "rusticl")
# One version of each shows that the check can fail.
CONTROLS = ("pocl-3.1", "rusticl-22.3")


def launches(suite, fleet):
    """PoCL and rusticl in every version, from the fleet's one pack."""
    # One driver behind another loader compiles as it does behind the first.
    names = [name for name in fleet.named(executes=True)
             if fleet.stations[name].device["driver"] in DRIVERS
             and "loader" not in fleet.stations[name].device]
    # An emulator translates code when it first runs: that takes time, and compiles nothing of ours.
    native = [name for name in names if not fleet.stations[name].emulated]
    with suite.phase("first launches"):
        suite.check_each(native, "{}'s binaries were all seen to be final when they were built",
                         lambda name: _all_final(fleet, name))
        # Drivers of a moving suite may compile: the builder's own look at each is enough.
        stable = [name for name in native if not fleet.stations[name].device["moving"]]
        suite.check_each(stable, "{} compiles no program at its first launch, from the pack or "
                         "from the overlay's second start", lambda name: _compiles_none(fleet, name))
        suite.check_each(CONTROLS, "{} does compile at first launches where the pack was built with "
                         "--no-finish", lambda name: _unfinished(fleet, name))
        suite.check_each([name for name in stable
                          if fleet.stations[name].device["driver"] == "rusticl"],
                         "{} is served by `kiln provision`, twice without a write, and `--remove` "
                         "leaves no file", lambda name: _provision(fleet, name))
        suite.check_each(fleet.named(driver="NEO"), "{} executes nothing here, and its binaries "
                         "are said to be not launched", lambda name: _not_launched(fleet, name))


def _finals(fleet, name):
    """(variant, final, why not) of each binary of the device's own pack."""
    (target,) = inspect(fleet, fleet.need(name).pack)["targets"]
    return [(binary["variant"], binary["provenance"]["finish"]["final"],
             binary["provenance"]["finish"]["why_not_final"]) for binary in target["binaries"]]


def _all_final(fleet, name):
    """What the builder's fresh processes saw."""
    rest = [row for row in _finals(fleet, name) if row[1] != "yes"]
    if rest and fleet.need(name).device["moving"]:
        raise Skipped(f"the moving suite's driver: {rest}")
    expect(not rest, f"not final: {rest}")


def _not_launched(fleet, name):
    """A device without hardware reports success and does nothing."""
    wrong = [row for row in _finals(fleet, name) if row[1] != "not launched" or not row[2]]
    expect(not wrong, f"{wrong}")


def _startup(station, pack, *options):
    """The device's row of kiln_startup."""
    row = station.startup(pack, *options)
    expect(row["executes"], "nothing is executed")
    return row


def _compiling(row):
    """The programs that compile at their first launch, as text."""
    return ", ".join(f"{f['program']}/{f['variant']} {f['first_launch_ms']:.2f} ms, then "
                     f"{f['second_launch_ms']:.2f} ms"
                     for f in row["first_results"] if f["compiles_at_first_launch"])


def _compiles_none(fleet, name):
    """In fresh processes with empty caches; what compiles grows them."""
    station = fleet.need(name)
    row = _startup(station, station.bring(fleet.pack))
    expect(row["compile_at_first_launch"] == 0, _compiling(row))
    expect(row["overlay_compile_at_first_launch"] == 0, f"the overlay's second start: {row}")
    return f"{row['programs']} programs, kiln/floor {row['ratio_to_floor']:.2f}"


def _unfinished(fleet, name):
    """The check before can fail: one of the programs, not finished."""
    station = fleet.another_station(name, "unfinished")
    base = station.bring(fleet.base)
    done = station.kiln("build", base, "--no-finish", "--preferred", "--device",
                        station.device["select"], "-o", "unfinished.kiln", "--json")
    expect(done.code in (0, 1) and done.out, f"kiln build ended with {done.code}: {done.err}")
    summary = done.json()
    expect(summary["unfinished"], "none is said to be unfinished")
    row = _startup(station, "unfinished.kiln", "--program", fleet.programs[0]["name"])
    expect(row["compile_at_first_launch"] == 1, "no program compiles")
    return _compiling(row)


def _provision(fleet, name):
    """In a folder of the station's own."""
    station = fleet.need(name)
    folder = station.folder / "mesa"
    folder.mkdir(exist_ok=True)
    command = ("provision", station.bring(station.pack, "own.kiln"), "--folder", "mesa",
               "--json")
    first = station.kiln(*command).expect_code(0, "kiln provision").json()
    expect(first["written"] == 1 and first["entries"], f"{first}")
    expect(all(device["served"] for device in first["devices"]) and first["devices"], f"{first}")
    expect(station.kiln(*command).json()["written"] == 0, "the second call wrote")
    station.kiln("provision", "--remove", "--folder", "mesa").expect_code(0, "--remove")
    left = [str(path) for path in folder.rglob("*") if path.is_file()]
    expect(not left, f"left behind: {left}")
    return f"{first['entries']} entries, {first['bytes']} bytes"

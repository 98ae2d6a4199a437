# SPDX-License-Identifier: Apache-2.0
"""What devices compiled for themselves becomes the fleet's: reports and overlays come home from
devices whose drivers no release had, a machine of each kind proves what came, and the next pack is
exact for every pair of model and driver that was seen."""

import json
import shutil

from fleet import call
from suite import Skipped, expect

# Of these pairs the release has the first three: 60%. No hardware executes NEO's code here, so that
# its pair is in the release, and what another sends home stays held.
RELEASED = ("pocl-3.1", "rusticl-22.3", "neo-22.43-skl")
NEW = ("pocl-6.0", "rusticl-25.0")
UNPROVABLE = "neo-22.43-tgllp"
PROGRAM = "laplace"
OVERLAY = "harvest-overlay"


def rounds(suite, fleet, forge):
    """One round of the loop."""
    with suite.phase("harvest"):
        suite.check("a release is exact for 60% of the pairs, and after one round of harvest the "
                    "pack is for 100% of those that could be proven", _round, fleet, forge)


def _round(fleet, forge):
    """Release, starts, what comes home, proofs, the next pack, starts."""
    if not shutil.which("minisign"):
        raise Skipped("minisign is not installed")
    home = fleet.work / "harvest"
    home.mkdir()
    release = _merge(fleet, home / "release.kiln", fleet.base,
                     *(fleet.need(name).pack for name in RELEASED))
    starts = {name: _start(fleet, name, release, "--overlay", OVERLAY)
              for name in (*RELEASED, *NEW, UNPROVABLE)}
    exact = [name for name in (*RELEASED, *NEW) if starts[name]["rung"] == "exact"]
    expect(exact == list(RELEASED), f"exact are {exact}: {starts}")
    _expect_reports(fleet, home, starts)

    packs = [_overlay_pack(fleet, home, name) for name in (*NEW, UNPROVABLE)]
    packs.append(_forged(fleet, home, forge))
    call(["minisign", "-G", "-W", "-p", "k.pub", "-s", "k.key"], home).expect_code(0, "minisign")
    first = _harvest(fleet, home, "first", release, packs)
    expect(_held(first) == {starts[name]["key_hash"] for name in (*NEW, UNPROVABLE)}, str(first))
    expect(first["targets"] == len(RELEASED), f"an unproven target was taken: {first}")

    proven = [_prove(fleet, home, name) for name in NEW]
    second = _harvest(fleet, home, "second", release, [home / "first.held.kiln", *proven])
    # Of the forged pack, the variants that nobody started and so nobody proved.
    expect(_held(second) == {starts[name]["key_hash"] for name in (NEW[0], UNPROVABLE)}, str(second))
    started = f"{PROGRAM}/{starts[NEW[0]]['variant']}"
    expect(not any(started in target["variants"] and target["key_hash"] ==
                   starts[NEW[0]]["key_hash"] for target in second["held"]), str(second))
    later = {name: _start(fleet, name, home / "second.kiln") for name in (*RELEASED, *NEW)}
    rungs = {name: report["rung"] for name, report in later.items()}
    expect(set(rungs.values()) == {"exact"}, str(later))
    expect(not any(later[name]["recompiled"] for name in NEW), str(later))
    return f"{len(exact)} of {len(rungs)} pairs, then {len(rungs)} of {len(rungs)}"


def _merge(fleet, output, *packs):
    """The packs as one."""
    fleet.host("pack", "merge", *packs, "-o", output).expect_code(0, "kiln pack merge")
    return output


def _start(fleet, name, pack, *options):
    """One start of an application on the device; its load report."""
    station = fleet.need(name)
    done = station.warm_kiln("explain", PROGRAM, "--pack", station.bring(pack), "--device",
                             station.device["select"], "--json", *options)
    return done.expect_code(0, f"kiln explain on {name}").json()


def _expect_reports(fleet, home, starts):
    """The sum of the reports says on which kinds of devices programs are compiled."""
    lines = home / "reports.jsonl"
    lines.write_text("".join(json.dumps(report) + "\n" for report in starts.values()),
                     encoding="utf-8")
    sums = fleet.host("report", lines, "--json").expect_code(0, "kiln report").json()
    compiled = {key["key_hash"] for key in sums["keys"] if key["compiled"]}
    expect(compiled == {starts[name]["key_hash"] for name in (*NEW, UNPROVABLE)}, str(sums))


def _overlay_pack(fleet, home, name):
    """What the device keeps, as a pack that came home."""
    station = fleet.need(name)
    done = station.kiln("overlay", "pack", OVERLAY, "-o", "harvest.kiln", "--json")
    done.expect_code(0, "kiln overlay pack")
    expect(done.json()["binaries"] == 1, done.out)
    return shutil.copy(station.folder / "harvest.kiln", home / f"{name}.kiln")


def _forged(fleet, home, forge):
    """A pack that claims proofs of another driver's binaries."""
    claimed, held = (fleet.need(name).pack for name in (NEW[0], RELEASED[0]))
    forged = home / "forged.kiln"
    call([forge, claimed, held, forged], home).expect_code(0, "kiln_forge_pack")
    return forged


def _harvest(fleet, home, name, release, packs):
    """Merges what is proven and signed into the release; the summary."""
    done = fleet.host("pack", "merge", "--base", release, "--proven", "--key", "k.pub", "--held",
                      f"{name}.held.kiln", *packs, "-o", f"{name}.kiln", "--json", folder=home)
    return done.expect_code(0, "kiln pack merge").json()


def _held(summary):
    """The kinds of devices whose binaries are held."""
    return {target["key_hash"] for target in summary["held"]}


def _prove(fleet, home, name):
    """A machine of that kind proves what is held, and its pack is signed."""
    station = fleet.need(name)
    station.bring(fleet.base, "base.kiln")
    station.bring(home / "first.held.kiln", "held.kiln")
    summary = station.build("base.kiln", "held.kiln", "--require-proof", "--preferred")
    expect(summary["compiled"] + summary["stored"] > 0, str(summary))
    pack = shutil.copy(station.folder / "held.kiln", home / f"{name}-proven.kiln")
    fleet.host("pack", "sign", pack, "--secret-key", home / "k.key").expect_code(0, "kiln pack sign")
    return pack

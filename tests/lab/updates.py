# SPDX-License-Identifier: Apache-2.0
"""What a driver update really does: packs whose target claims a device and holds the binaries of
another version of its driver, as a system update with unchanged strings leaves them behind."""

import shutil
from dataclasses import dataclass

import png
from fleet import call
from suite import Failed, Skipped, expect

VARIANT = ("laplace", "scalar")
SECOND = ("sobel", "px1")
DEATHS = {"ends": "ended the process with code 1", "aborts": "crashed with signal 6"}


@dataclass(frozen=True)
class Update:
    """The binaries of one device in a pack for another, and what its driver makes of them."""

    held: str
    device: str
    result: str  # native, recompiled, refused, or a key of DEATHS
    whole: bool = False  # the binaries hold the driver's SPIR-V, as the driver gave them


UPDATES = (
    Update("neo-20.44-skl", "neo-22.43-skl", "refused"),
    Update("neo-22.43-skl", "neo-24.35-skl", "refused"),
    Update("neo-24.35-skl", "neo-22.43-skl", "native"),
    Update("neo-22.43-skl", "neo-20.44-skl", "refused"),
    Update("neo-20.44-skl", "neo-22.43-skl", "recompiled", whole=True),
    Update("neo-22.43-skl", "neo-24.35-skl", "recompiled", whole=True),
    Update("neo-22.43-skl", "neo-20.44-skl", "ends", whole=True),
    Update("neo-24.35-skl", "neo-20.44-skl", "refused"),
    Update("pocl-3.1", "pocl-6.0", "refused"),
    Update("pocl-3.1", "pocl-7.1", "refused"),
    Update("pocl-6.0", "pocl-7.1", "native"),
    Update("pocl-6.0", "pocl-3.1", "refused"),
    Update("rusticl-22.3", "rusticl-25.0", "refused"),
    Update("rusticl-25.0", "rusticl-22.3", "aborts"),
)
SENTENCES = {
    "native": "takes them as they are",
    "recompiled": "recompiles them silently: that is reported, and healed for the next start",
    "refused": "refuses them: a lower rung serves, and the overlay from the next start on",
    "ends": "ends the process: the next start says so and works",
    "aborts": "aborts the process: the next start says so and works",
}


def stale(suite, fleet, forge):
    """Every row of the table of updates."""
    with suite.phase("stale binaries under unchanged strings"):
        for update in UPDATES:
            kind = "whole binaries" if update.whole else "binaries"
            suite.check(f"{update.device}, given {update.held}'s {kind} as its own, "
                        f"{SENTENCES[update.result]}", _Stale(fleet, forge, update).play)
        suite.check("a second program that ends the process quarantines the rung", _second_death,
                    fleet, forge)


class _Stale:
    """One row: a pack, an overlay, and starts with them."""

    def __init__(self, fleet, forge, update):
        self.fleet, self.forge, self.update = fleet, forge, update
        self.station = self.pack = None

    def play(self):
        """The first start, and what the next ones make of it."""
        self.prepare()
        play = {"native": self._native, "recompiled": self._recompiled, "refused": self._refused}
        try:
            return play.get(self.update.result, self._dies)()
        except Failed as reason:
            if self.station.device["moving"]:
                raise Skipped(f"the moving suite's driver does otherwise: {reason}") from None
            raise

    def prepare(self):
        """The pack, in the device's folder; and no overlay."""
        held = self.fleet.need(self.update.held)
        self.station = self.fleet.need(self.update.device)
        self.pack = f"stale-{held.id}.kiln"
        binaries = held.folder / "whole.kiln" if self.update.whole else held.pack
        if not binaries.exists():
            held.build("base.kiln", binaries.name, "--no-finish")
        call([self.forge, self.station.pack, binaries, self.station.folder / self.pack],
             self.station.folder).expect_code(0, "kiln_forge_pack")
        self.station.bring(self.fleet.crop, "crop.png")
        shutil.rmtree(self.station.folder / f"overlay-{self.update.held}", ignore_errors=True)

    def start(self, pair=VARIANT, code=0):
        """One start of an application: the load report, or what the death was; pixels checked."""
        program, variant = pair
        common = [program, "--variant", variant, "--pack", self.pack, "--device",
                  self.station.device["select"], "--overlay", f"overlay-{self.update.held}"]
        if not self.station.device["executes"]:
            done = self.station.warm_kiln("explain", *common, "--json")
            done.expect_code(code, "kiln explain")
            return done.err if code else done.json()
        output = f"stale-{program}.png"
        done = self.station.warm_kiln("run", *common, "--image", "crop.png", "--output", output,
                                      "--report", "stale.json")
        done.expect_code(code, "kiln run")
        if code:
            return done.err
        for plane, reference in self.fleet.references[(*pair, "crop")].items():
            picture = self.station.folder / f"stale-{program}{plane}"
            expect(png.worst_difference(picture, reference) == 0, f"{picture} is not the reference")
        report = self.fleet.read_json(self.station.folder / "stale.json")
        return report

    def _native(self):
        report = self.start()
        _expect_rung(report, "exact", "loaded")
        expect(report["rung"] == "exact" and report["recompiled"] is False, str(report))

    def _recompiled(self):
        first = self.start()
        expect(first["rung"] == "exact" and first["recompiled"] is True, str(first))
        second = self.start()
        expect(second["rung"] == "overlay" and second["recompiled"] is False, str(second))
        return f"{first['milliseconds']:.1f} ms, then {second['milliseconds']:.2f} ms"

    def _refused(self):
        first = self.start()
        reason = _expect_rung(first, "exact", "failed")
        expect(first["rung"] in ("il", "source"), str(first))
        return f"{reason}; {self._then_overlay(first)}"

    def _dies(self):
        for _ in range(2):
            error = self.start(code=1)
            expect(DEATHS[self.update.result] in error, error)
        second = self.start()
        reason = _expect_rung(second, "exact", "quarantined")
        return f"{reason}; {self._then_overlay(second)}"

    def _then_overlay(self, report):
        """What was compiled is there at the next start."""
        later = self.start()
        expect(later["rung"] == "overlay", f"then it was loaded as {later['rung']}: {later}")
        return f"{report['rung']}, then the overlay"


def _second_death(fleet, forge):
    """Three deaths over two blobs of one rung, and then the rung is not tried any more."""
    row = _Stale(fleet, forge, Update("rusticl-25.0", "rusticl-22.3", "aborts"))
    row.prepare()
    for variant in (VARIANT, VARIANT, SECOND):
        row.start(variant, code=1)
    reason = _expect_rung(row.start(("epsilon", "buffer")), "exact", "quarantined")
    expect("with two binaries" in reason, reason)
    return reason


def _expect_rung(report, name, outcome):
    """The rung's reason, when its outcome is as expected."""
    (rung,) = [rung for rung in report["rungs"] if rung["rung"] == name]
    expect(rung["outcome"] == outcome, f"{name} is not {outcome}: {rung}")
    return rung.get("reason", "")

"""Kernel sizes on real drivers: `kiln_kernel_check` on every stable x86-64 device that executes."""

import re
from pathlib import Path

import making
import pixels
from suite import expect

DEVICES = ("pocl-3.1", "pocl-6.0", "rusticl-22.3", "rusticl-25.0", "oclgrind")
SIZES = ("1", "40")


def check(suite, fleet, manifest, program):
    """Runs the check for all sizes on every device."""
    if not making.base_pack(suite, fleet, manifest):
        return
    with suite.phase("kernel sizes"):
        suite.check_each(DEVICES, "{} is there", fleet.open_station)
        suite.check_each(list(fleet.stations), f"{{}} computes all sizes from {SIZES[0]} to "
                         f"{SIZES[1]} right", lambda name: _check(fleet, name, Path(program)))


def _check(fleet, name, program):
    """One device; under a checker also without a finding."""
    station = fleet.need(name)
    station.bring(fleet.base)
    station.bring(program, "kiln_kernel_check")
    environment, findings = pixels.checker_log(station)
    light = ["--light"] if station.device["way"] == "oclgrind" else []
    done = station.call("./kiln_kernel_check", *light, "base.kiln", station.device["select"],
                        *SIZES, environment=environment)
    done.expect_code(0, "kiln_kernel_check")
    pixels.expect_no_faults(findings(), name)
    launches = [int(number) for number in re.findall(r"(\d+) launches", done.out)]
    expect(all(launches) and launches, f"nothing was launched\n{done.out}")
    return f"{sum(launches)} launches of {len(launches)} variants"

# SPDX-License-Identifier: Apache-2.0
"""Kernel sizes on real drivers: `kiln_kernel_check` on the x86-64 devices that execute.

The base pack has no binaries: drivers that take SPIR-V are given it, the others get source.
"""

import re
from pathlib import Path

import making
import pixels
from fleet import REFERENCES, WARM
from suite import Skipped, expect

# What is checked on a device: the variants, and the least and the greatest of the small sizes.
# rusticl compiles anew for many a size of an image. 26.2 has half precision, sub-groups and integer
# dot products, and moves with Debian's sid. Oclgrind interprets.
SOME = {"rusticl-25.0": ("--preferred", "1", "10"),  # every remainder of a division by 8, and two more
        "pocl-6.0": ("--thin", "1", "18"),
        "oclgrind": ("--light", "1", "4"),
        "rusticl-26.2": ("--special", "--thin", "1", "10")}
ALL = {"rusticl-25.0": ("--thin", "1", "18"),
       "rusticl-22.3": ("--preferred", "1", "10"),
       "pocl-6.0": ("--thin", "1", "34"),  # every remainder of a division by 32, and two more
       "pocl-3.1": ("--preferred", "1", "10"),
       "oclgrind": ("--light", "1", "8"),
       "rusticl-26.2": ("--special", "--thin", "1", "34")}
# For vendors' built-ins, emulated. PoCL 3.1 takes all but the special ones (tests/support).
EMULATING = ("rusticl-25.0", "rusticl-26.2", "pocl-6.0", "oclgrind")
EMULATING_SPECIAL = ("rusticl-26.2", "pocl-6.0")
EMULATED_SIZES = ("1", "6")
# Compile, and do not execute without their hardware. Not 20.44: it says OpenCL 3.0, and its
# compiler does not know -cl-std=CL3.0.
BUILT = ("neo-22.43-tgllp",)


def check(suite, fleet, manifest, made, program, how):
    """Runs the check on every device, for SOME variants and sizes or for ALL."""
    with suite.phase("every case study"):
        if not suite.check("the base pack is there", making.plain_base_pack, fleet, manifest, made):
            return
        suite.check_each(list(how), "{} is there", fleet.open_station)
        suite.check_each(_there(fleet, how), "{} computes all small sizes and some large ones right",
                         lambda name: _launch(fleet, name, Path(program), how[name]))


def check_emulated(suite, fleet, manifest, program):
    """Runs the check for variants whose built-ins are emulated (tests/emulation)."""
    with suite.phase("every emulated built-in"):
        if not suite.check("the pack with the emulations is there", making.plain_base_pack, fleet,
                           manifest):
            return
        suite.check_each(EMULATING, "{} is there", fleet.open_station)
        suite.check_each(_there(fleet, EMULATING), "{} computes what is emulated right",
                         lambda name: _check_emulated(fleet, name, Path(program)))


def build(suite, fleet, manifest, made):
    """Has every variant compiled where none can be executed."""
    with suite.phase("every variant built"):
        if not suite.check("the base pack is there", making.plain_base_pack, fleet, manifest, made):
            return
        suite.check_each(BUILT, "{} is there", fleet.open_station)
        suite.check_each(_there(fleet, BUILT), "{} builds every variant that it can run",
                         lambda name: making.build(fleet, name))


def _there(fleet, names):
    return [name for name in names if name in fleet.stations]


def _check_emulated(fleet, name, program):
    """The same for the emulated variants."""
    options = ["--light" if name == "oclgrind" else "--thin"]
    if name in EMULATING_SPECIAL:
        options.append("--special")
    return _launch(fleet, name, program, (*options, *EMULATED_SIZES))


def _launch(fleet, name, program, arguments):
    """Runs kiln_kernel_check with the base pack on a device, under a checker also without a finding;
    how much was launched, in words."""
    *options, least, greatest = arguments
    station = fleet.need(name)
    station.bring(fleet.base)
    station.bring(program, "kiln_kernel_check")
    station.bring(program.with_name(REFERENCES))
    environment, findings = pixels.checker_log(station)
    # PoCL compiles a kernel once for all sizes, rather than for each.
    environment = {**environment, "POCL_MAX_PTHREAD_COUNT": "1", "LP_NUM_THREADS": "1",
                   "POCL_WORK_GROUP_SPECIALIZATION": "0"}
    done = station.call("./kiln_kernel_check", *options, "base.kiln", station.device["select"],
                        least, greatest, environment=environment, settings=WARM)
    if done.code != 0 and station.device["moving"]:
        raise Skipped(f"the moving suite's driver fails: {_faults(done.out)}")
    expect(done.code == 0, f"kiln_kernel_check: {_faults(done.out)}")
    pixels.expect_no_faults(findings(), name)
    launches = [int(number) for number in re.findall(r"(\d+) launches", done.out)]
    expect(all(launches) and launches, f"nothing was launched\n{done.out}")
    return f"{sum(launches)} launches of {len(launches)} variants"


def _faults(text):
    """The lines that tell of something wrong."""
    return "; ".join(line for line in text.splitlines()
                     if " 0 mismatches" not in line and "skipped" not in line)

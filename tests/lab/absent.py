# SPDX-License-Identifier: Apache-2.0
"""One pack of the fleet's devices and of devices that are not there: many targets, and what is known
of each binary. One variant is built for each device that is not there."""

import registry
from suite import Skipped, expect

TARGETS, DRIVERS, CAPABILITIES = 60, 10, 5
# Intel's driver by version: its suite and the products of which each has a key of its own.
NEO = {"22.43": ("host", "bdw,skl,bxt,icllp,ehl,tgllp,dg1,dg2"),
       "20.44": ("bullseye", "bdw,skl,bxt,icllp,ehl,tgllp"),
       "24.35": ("sid", "bdw,skl,kbl,cfl,bxt,glk,icllp,ehl,lkf")}
OCLOC = "pvc"  # as which the driver hangs
NVIDIA = ("sm_35", "sm_37", "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70",
          "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90")
AMD = ("700", "701", "702", "703", "704", "705", "801", "803", "810", "900", "902", "904", "906",
       "908", "90a", "90c", "1010", "1011", "1012", "1013", "1030", "1031", "1032", "1034")
# Why a binary was not launched, where no device was there to do it.
NOBODY = ("no device of this kind has loaded it",
          "loaded by its driver without hardware",
          "this device cannot execute kernels here")


def many_targets(suite, fleet):
    """Builds for devices that are not there, merges that with the fleet's pack, and looks."""
    fleet.absent = []
    with suite.phase("devices that are not there"):
        suite.check_each([f"NEO {version}" for version in NEO],
                         "{} as GPUs that are not there", lambda name: _virtual(fleet, name))
        suite.check("ocloc, ptxas and AMD's clang, without a driver", _compilers, fleet)
        suite.check(f"one pack has {TARGETS} targets of {DRIVERS} driver versions or more, "
                    f"{CAPABILITIES} compute capabilities of NVIDIA's among them", _merge, fleet)
        suite.check("of each binary the pack says that it was launched, or that no device did that",
                    _known, fleet)


def _virtual(fleet, name):
    """The small base pack by one version of the driver."""
    version = name.split()[1]
    place, products = NEO[version]
    device = next(device for device in registry.devices()
                  if (device["driver"], device["version"]) == ("NEO", version))
    reason = registry.unavailable(device)
    if reason and device["moving"]:
        raise Skipped(f"not available: {reason}")
    root = {} if place == "host" else {"KILN_NEO_ROOT": str(registry.folder(place))}
    return _build(fleet, f"virtual-{version}", ["--virtual", f"neo:{products}"],
                  len(products.split(",")), root)


def _compilers(fleet):
    """The small base pack by compilers alone."""
    ptxas = registry.folder("bookworm-nonfree", "cuda") / "usr/bin/ptxas"
    words = ["--virtual", f"ocloc-22.43.toml:{OCLOC}", "--virtual", f"nvidia.toml:{','.join(NVIDIA)}",
             "--virtual", f"amd.toml:{','.join(f'gfx{model}' for model in AMD)}"]
    return _build(fleet, "compilers", words, 1 + len(NVIDIA) + len(AMD),
                  {"KILN_PTXAS": str(ptxas)})


def _build(fleet, name, words, targets, variables):
    """Adds a pack to the fleet's absent ones, with a target for each device."""
    pack = fleet.work / f"{name}.kiln"
    done = fleet.host("build", fleet.small_base, "--preferred", "--store", "none", "-o", pack, "--json",
                      *words, variables=variables)
    summary = done.expect_code(0, "kiln build").json()
    expect(summary["targets"] == targets, f"{summary['targets']} targets, not {targets}")
    fleet.absent.append(pack)
    return f"{targets} targets"


def _merge(fleet):
    """All packs in one, and what is in it."""
    fleet.all = fleet.work / "all.kiln"
    fleet.host("pack", "merge", fleet.pack, *sorted(fleet.absent), "-o", fleet.all).expect_code(
        0, "kiln pack merge")
    fleet.host("pack", "verify", fleet.all).expect_code(0, "kiln pack verify")
    targets = _inspected(fleet)
    # By profile: compilers and drivers of one version name the platform in two ways.
    drivers = {(target["profile"], _driver(target)) for target in targets}
    capabilities = {target["identity"]["compute_capability"] for target in targets
                    if "compute_capability" in target["identity"]}
    counts = (f"{len(targets)} targets, {len(drivers)} driver versions, {len(capabilities)} "
              f"compute capabilities, {fleet.all.stat().st_size} bytes")
    fleet.summary.append(f"{counts}: {', '.join(sorted(map(' '.join, drivers)))}")
    if len(drivers) < DRIVERS and len(fleet.absent) <= len(NEO):
        raise Skipped(f"{counts}; the moving suite is not there")
    expect(len(targets) >= TARGETS and len(drivers) >= DRIVERS and
           len(capabilities) >= CAPABILITIES, counts)
    return counts


def _driver(target):
    """The driver's version; where none is asked for, the oldest that takes the binaries."""
    version = target["identity"].get("driver_version")
    return version or target["binaries"][0]["provenance"]["finish"]["driver"]


def _known(fleet):
    """As JSON and as text."""
    targets = _inspected(fleet)
    finishes = [binary["provenance"]["finish"] for target in targets
                for binary in target["binaries"] + target["intermediates"]]
    unknown = [finish for finish in finishes if not _is_known(finish)]
    expect(not unknown, f"nothing is known of {unknown[:3]}")
    text = fleet.host("pack", "inspect", fleet.all).expect_code(0, "kiln pack inspect").out
    launched = sum(finish["final"] != "not launched" for finish in finishes)
    nobody = sum(f"not launched: {why}" in line for line in text.splitlines() for why in NOBODY)
    expect(launched + nobody == len(finishes),
           f"the text says of {nobody} binaries that nobody launched them; {launched} of "
           f"{len(finishes)} were")
    return f"{launched} binaries were launched, {nobody} were not for want of a device"


def _is_known(finish):
    """Whether it was launched, or the reason is that there was no device."""
    return finish["final"] != "not launched" or finish["why_not_final"] in NOBODY


def _inspected(fleet):
    done = fleet.host("pack", "inspect", fleet.all, "--json")
    return done.expect_code(0, "kiln pack inspect").json()["targets"]

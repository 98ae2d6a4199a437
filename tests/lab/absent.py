# SPDX-License-Identifier: Apache-2.0
"""One pack of the fleet's devices and of devices that are not there: many targets, and what is known
of each binary. One variant is built for each device that is not there."""

import os
import shutil

import registry
from suite import Skipped, expect

TARGETS, DRIVERS, CAPABILITIES, VENDORS = 125, 12, 5, 6
# Intel's driver by version: its suite and the products of which each has a key of its own.
NEO = {"22.43": ("host", "bdw,skl,bxt,icllp,ehl,tgllp,dg1,dg2"),
       "20.44": ("bullseye", "bdw,skl,bxt,icllp,ehl,tgllp"),
       "24.35": ("sid", "bdw,skl,kbl,cfl,bxt,glk,icllp,ehl,lkf")}
OLD_OCLOC = "pvc"  # as which the driver of that version hangs
# Names of which ocloc 26.27 finds exactly one device.
OCLOC = ("tgllp", "rkl", "adl-s", "adl-p", "adl-n", "dg1", "acm-g10", "acm-g11", "acm-g12", "mtl-u",
         "mtl-h", "arl-h", "lnl-m", "bmg-g21", "bmg-g31", "ptl-u", "ptl-h", "pvc", "pvc-vg", "wcl")
PTXAS = {"KILN_PTXAS": str(registry.folder("bookworm-nonfree", "cuda") / "usr/bin/ptxas")}
NVIDIA = ("sm_35", "sm_37", "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70",
          "sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90")
# As a driver names them: those of 9 and 10.1 with their settings.
AMD = tuple(f"gfx{model}" for model in (
    "600", "601", "602", "700", "701", "702", "703", "704", "705", "801", "803",
    "805", "810", "900:xnack-", "900:xnack+", "902:xnack-", "902:xnack+", "904:xnack-",
    "904:xnack+", "906:sramecc+:xnack-", "906:sramecc+:xnack+", "906:sramecc-:xnack-",
    "908:sramecc+:xnack-", "908:sramecc+:xnack+", "909:xnack-", "909:xnack+",
    "90a:sramecc+:xnack-", "90a:sramecc+:xnack+", "90c:xnack-", "90c:xnack+", "940",
    "1010:xnack-", "1010:xnack+", "1011:xnack-", "1011:xnack+", "1012:xnack-", "1012:xnack+",
    "1013:xnack-", "1013:xnack+", "1030", "1031", "1032", "1033", "1034", "1035", "1036"))
# Mesa's versions, the stable one first.
MESA_SUITES = {"25.0": "trixie", "26.1": "forky", "26.2": "sid"}
# Of each generation one; all_models.py builds for all. A model takes 3 s of a processor by 25.0, and 9 s
# by 26.2.
MESA = {"25.0": ("pitcairn", "bonaire", "polaris10", "vega10", "navi10", "navi21", "navi31",
                 "gfx1150", "nvc0", "nve4", "nv108", "nv117", "nv138"),
        "26.2": ("fd610", "fd740", "fd830")}
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
        suite.check_each([f"Mesa {version}" for version in MESA],
                         "{} as GPUs that are not there", lambda name: _mesa(fleet, name))
        suite.check("ocloc, ptxas and AMD's clang, without a driver", _compilers, fleet)
        suite.check("a later ocloc", _later_ocloc, fleet)
        suite.check(f"one pack has {TARGETS} targets of {DRIVERS} driver versions and {VENDORS} "
                    f"vendors or more, {CAPABILITIES} compute capabilities of NVIDIA's among them",
                    _merge, fleet)
        suite.check("one more target is fetched with at most 1.2 times the bytes of its blobs",
                    _publish, fleet)
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


def _mesa(fleet, name):
    """The small base pack by one version of Mesa."""
    version = name.split()[1]
    place = MESA_SUITES[version]
    _need(place)
    return _build(fleet, f"mesa-{version}", ["--virtual", f"mesa:{','.join(MESA[version])}"],
                  len(MESA[version]), {"KILN_MESA_ROOT": str(registry.folder(place))})


def _need(place):
    """Skips the scenario if the moving suite is not there."""
    if registry.suites()[place]["moving"] and not registry.completed(place):
        raise Skipped(f"not available: {place} is not fetched")


def _compilers(fleet):
    """The small base pack by compilers alone."""
    words = ["--virtual", f"ocloc-22.43.toml:{OLD_OCLOC}", "--virtual",
             f"nvidia.toml:{','.join(NVIDIA)}", "--virtual", f"amd.toml:{','.join(AMD)}"]
    return _build(fleet, "compilers", words, 1 + len(NVIDIA) + len(AMD), PTXAS)


def _later_ocloc(fleet):
    """The small base pack by an ocloc that tells what its devices are."""
    _need("forky")
    return _build(fleet, "later-ocloc", ["--virtual", f"ocloc.toml:{','.join(OCLOC)}"], len(OCLOC),
                  later_ocloc(fleet.work))


def later_ocloc(work):
    """The variables with which `ocloc` is that of forky, which needs that suite's C library."""
    root, folder = registry.folder("forky"), work / "later-ocloc"
    libraries = root / "usr/lib" / registry.TRIPLETS["amd64"]
    folder.mkdir(exist_ok=True)
    (program,) = (root / "usr/bin").glob("ocloc-*")
    (folder / "ocloc").write_text(f"""#!/bin/sh
exec '{libraries}/ld-linux-x86-64.so.2' --library-path '{libraries}' '{program}' "$@"
""", encoding="utf-8")
    (folder / "ocloc").chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def _build(fleet, name, words, targets, variables):
    """Adds a pack to the fleet's absent ones, with a target for each device."""
    pack = fleet.work / f"{name}.kiln"
    done = fleet.host("build", fleet.small_base, "--preferred", "-o", pack, "--json",
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
    vendors = {vendor(target) for target in targets}
    counts = (f"{len(targets)} targets, {len(drivers)} driver versions, {len(vendors)} vendors "
              f"({', '.join(sorted(vendors))}), {len(capabilities)} compute capabilities, "
              f"{fleet.all.stat().st_size} bytes")
    fleet.summary.append(f"{counts}: {', '.join(sorted(map(' '.join, drivers)))}")
    if any(suite["moving"] and not registry.completed(name)
           for name, suite in registry.suites().items()):
        raise Skipped(f"{counts}; a moving suite is not there")
    expect(len(targets) >= TARGETS and len(drivers) >= DRIVERS and len(vendors) >= VENDORS and
           len(capabilities) >= CAPABILITIES, counts)
    return counts


def _publish(fleet):
    """Publishes the pack; the bytes of each target's delta beside those of its blobs in the pack."""
    layout = fleet.work / "published"
    shutil.rmtree(layout, ignore_errors=True)
    published = fleet.host("fleet", "publish", fleet.all, "--to", layout, "--json").expect_code(
        0, "kiln fleet publish").json()
    fetched = {pack["key_hash"]: pack["delta_size"] for pack in published["packs"]
               if pack["key_hash"]}
    names = {target["key"]: target["key_hash"] for target in _inspected(fleet)}
    done = fleet.host("pack", "inspect", fleet.all, "--bytes", "--json")
    stored = {names[target["key"]]: target["own"]["stored"] + target["shared"]["stored"]
              for target in done.expect_code(0, "kiln pack inspect --bytes").json()["targets"]}
    expect(set(fetched) == set(stored), "other targets are published than the pack has")
    shares = sorted(fetched[key] / stored[key] for key in stored if stored[key])
    manifest = (layout / "manifest.json").stat().st_size
    result = (f"{len(shares)} targets: {shares[0]:.2f} to {shares[-1]:.2f} times, together "
              f"{sum(fetched.values()) / sum(stored.values()):.2f}; the manifest has "
              f"{manifest / len(shares):.0f} bytes a target")
    fleet.summary.append(result)
    expect(shares[-1] <= 1.2, result)
    return result


def vendor(target):
    """Who made the device, which drivers call by several names."""
    name = target["identity"]["device_vendor"].lower()
    known = {"advanced micro": "AMD", "amd": "AMD", "intel": "Intel", "nvidia": "NVIDIA",
             "arm": "Arm", "mesa": "Mesa"}
    return next((whose for word, whose in known.items() if word in name),
                target["identity"]["device_vendor"])


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
